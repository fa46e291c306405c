"""Live pictures: the frames drawn are those sent, the newest first, with never more than one in transit."""

from playwright.sync_api import expect

PIXEL = """(canvas) => [canvas.width, canvas.height, ...canvas.getContext("2d").getImageData(9, 9, 1, 1).data.slice(0, 2)]"""


def test_a_live_render_draws_what_python_answers(turn_to):
    page = turn_to("/parts?page=parts")
    canvas, slider = page.get_by_test_id("live-render").locator("canvas"), page.get_by_label("Gaussians blended")
    expect(canvas).to_have_attribute("data-count", "200")
    assert canvas.evaluate(PIXEL) == [64, 48, 200, 1]
    slider.fill("7")
    expect(canvas).to_have_attribute("data-count", "7")
    assert canvas.evaluate(PIXEL) == [64, 48, 7, 2]
    expect(page.get_by_test_id("live-render")).to_contain_text("7 of 200")


def test_a_dragged_slider_asks_only_when_the_last_frame_is_drawn(turn_to):
    page = turn_to("/parts?page=parts")
    canvas, slider = page.get_by_test_id("live-render").locator("canvas"), page.get_by_label("Gaussians blended")
    expect(canvas).to_have_attribute("data-count", "200")
    slider.evaluate("""async (slider) => {
      for (let n = 1; n <= 60; n++) {
        slider.value = n
        slider.dispatchEvent(new Event("input"))
        await new Promise((done) => setTimeout(done, 5))
      }
    }""")
    expect(canvas).to_have_attribute("data-count", "60")
    said = page.get_by_text("renders, at most").inner_text()
    made, most = int(said.split()[0]), int(said.split()[4])
    assert most == 1
    assert 3 <= made < 30, said


def test_what_a_render_raises_is_one_line_and_the_slider_goes_on(turn_to):
    page = turn_to("/parts?page=parts")
    live = page.get_by_test_id("live-render")
    expect(live.locator("canvas")).to_have_attribute("data-count", "200")
    page.get_by_label("Gaussians blended").fill("13")
    expect(live).to_contain_text("13 Gaussians are too many for this device: take 12")
    for number in ("12", "13", "11"):
        page.get_by_label("Gaussians blended").fill(number)
        page.wait_for_timeout(200)
    expect(live.locator("canvas")).to_have_attribute("data-count", "11")
    expect(live).not_to_contain_text("too many")


def test_of_a_burst_of_frames_the_newest_is_drawn_and_the_rest_dropped(turn_to):
    page = turn_to("/parts?page=parts")
    canvas = page.get_by_test_id("stream")
    expect(page.get_by_test_id("live-render").locator("canvas")).to_have_attribute("data-count", "200")
    page.evaluate("""() => {
      window.drawn = []
      const draw = CanvasRenderingContext2D.prototype.drawImage
      CanvasRenderingContext2D.prototype.drawImage = function (image, ...rest) {
        draw.call(this, image, ...rest)
        if (image instanceof ImageBitmap) drawn.push(this.getImageData(0, 0, 1, 1).data[0])
      }
    }""")
    for _ in range(2):
        page.get_by_role("button", name="Burst").click()
        page.wait_for_function("drawn.length === 2")
        assert page.evaluate("drawn.splice(0)") == [1, 100]
        expect(canvas).to_have_attribute("data-iteration", "100")
        assert canvas.evaluate(PIXEL) == [64, 48, 100, 0]
