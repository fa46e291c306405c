"""A stream of frames: those drawn are the newest that were sent."""

from playwright.sync_api import expect

PIXEL = """(canvas) => [canvas.width, canvas.height, ...canvas.getContext("2d").getImageData(9, 9, 1, 1).data.slice(0, 2)]"""


def test_of_a_burst_of_frames_the_newest_is_drawn_and_the_rest_dropped(turn_to):
    page = turn_to("/parts?page=parts")
    canvas = page.get_by_test_id("stream")
    expect(page.get_by_role("button", name="Burst")).to_be_visible()
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
