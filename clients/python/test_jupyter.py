# SPDX-License-Identifier: Apache-2.0
"""Which program the notebook's magics ask. What they show is tested in a kernel: tests/e2e/notebook-shows-the-chart-inline.sh."""
import os
import tempfile
import unittest
from unittest import mock

import plateau_jupyter


class JupyterTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name in ("here", "elsewhere", "home"):
            os.mkdir(os.path.join(self.folder.name, name))
        here, home = (os.path.join(self.folder.name, name) for name in ("here", "home"))
        for patch in (mock.patch.object(plateau_jupyter.sysconfig, "get_path", return_value=here),
                      mock.patch.object(plateau_jupyter.site, "getuserbase", return_value=home),
                      mock.patch.dict(os.environ, {"PATH": os.path.join(self.folder.name, "elsewhere")})):
            patch.start()
            self.addCleanup(patch.stop)
        os.environ.pop("PLATEAU", None)

    def put(self, folder):
        place = os.path.join(self.folder.name, folder, "plateau")
        with open(place, "w") as file:
            file.write("#!/bin/sh\n")
        os.chmod(place, 0o755)
        return place

    def test_installed_in_the_environment_it_needs_no_path(self):
        wanted = self.put("here")
        self.put("elsewhere")
        self.assertEqual(plateau_jupyter._program(), wanted)

    def test_the_path_serves_where_nothing_is_installed(self):
        wanted = self.put("elsewhere")
        self.assertEqual(plateau_jupyter._program(), wanted)

    def test_what_the_variable_names_comes_first(self):
        self.put("here")
        os.environ["PLATEAU"] = "/opt/plateau"
        self.assertEqual(plateau_jupyter._program(), "/opt/plateau")

    def test_nowhere_is_none(self):
        self.assertIsNone(plateau_jupyter._program())


if __name__ == "__main__":
    unittest.main()
