"""A recording is a file of the server's as long as somebody holds it."""

import gc

from tornado.testing import AsyncHTTPTestCase, gen_test
from tornado.web import Application

from splatscope.recordings.packed import PackedRecording
from splatscope.web import recording_files
from splatscope.web.serving import routes
from splatscope.web.stepper.stepper import Stepper


def recording(name: str, data: bytes = b"events") -> PackedRecording:
    return PackedRecording({"recording": name, "adapter": ""}, data)


class TestRecordingFiles(AsyncHTTPTestCase):
    """The server's route for recordings, alone."""

    def get_app(self):
        route = next(route for route in routes.ROUTES if route[1] is recording_files.RecordingFileHandler)
        return Application([route])

    def test_it_is_sent_as_it_is_and_kept_for_good(self):
        held = recording("0123456789abcdef", b"\x00\xffevents")
        answer = self.fetch(f"/{recording_files.address(held)}")
        assert (answer.code, answer.body) == (200, b"\x00\xffevents")
        assert "immutable" in answer.headers["Cache-Control"]

    def test_one_that_nobody_holds_is_gone(self):
        address = recording_files.address(recording("00000000000000ff"))
        gc.collect()
        assert self.fetch(f"/{address}").code == 404

    @gen_test
    async def test_another_server_with_the_same_folder_sends_it_and_so_does_this_one_after_a_restart(self):
        name = recording_files.address(recording("00000000000000cc", b"stored")).rpartition("/")[2]
        await recording_files.durable._writing
        gc.collect()
        assert name not in recording_files._held
        answer = await self.http_client.fetch(self.get_url(f"/recordings/{name}"))
        assert answer.body == b"stored"

    def test_a_stepper_holds_what_it_shows(self):
        stepper = Stepper()
        address = recording_files.address(shown := recording("00000000000000aa"))
        stepper.show(shown, address)
        del shown
        gc.collect()
        assert self.fetch(f"/{address}").code == 200
        stepper.show(recording("00000000000000bb"))
        gc.collect()
        assert self.fetch(f"/{address}").code == 404

    def test_other_names_are_none(self):
        assert {self.fetch(f"/recordings/{name}").code for name in ("0123", "../secret", "g" * 16)} == {404}
