"""The route of trained pictures."""

import numpy as np
import pytest
from bokeh.server.auth_provider import NullAuth
from tornado.testing import AsyncHTTPTestCase
from tornado.web import Application

from splatscope.services import pictures
from splatscope.textbook.pixel import TrainedPicture
from splatscope.web.lesson_page import picture_handler
from splatscope.web.lesson_page.picture_handler import PictureHandler
from splatscope.web.serving import routes


class TestPictureHandler(AsyncHTTPTestCase):
    """The server's route for pictures, alone."""

    def get_app(self):
        app = Application([next(route for route in routes.ROUTES if route[1] is PictureHandler)])
        app.auth_provider = NullAuth()
        return app

    @pytest.fixture(autouse=True)
    def _held(self, monkeypatch):
        self.monkeypatch = monkeypatch
        self.name = pictures.hold(TrainedPicture(np.zeros((9, 4), np.float32), np.zeros((8, 12, 3), np.uint8)))

    def test_only_the_readers_own_browser_keeps_a_picture(self):
        answer = self.fetch(f"/pictures/{self.name}")
        assert answer.body[8:12] == b"WEBP"
        assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"

    def test_one_that_is_gone_is_no_error(self):
        answer = self.fetch(f"/pictures/{'0' * 16}")
        assert (answer.code, answer.headers["Cache-Control"]) == (204, "no-store")

    def test_nobody_who_is_not_authorized_gets_one(self):
        self.monkeypatch.setattr(picture_handler, "is_authorized", lambda _: False)
        assert self.fetch(f"/pictures/{self.name}").code == 403
