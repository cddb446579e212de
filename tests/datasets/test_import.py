import subprocess
import sys

import sev.datasets


def test_import_is_light():
    code = (
        "import sys, sev.datasets; heavy = {'sklearn.datasets', 'numba', 'torch', 'matplotlib'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_is_there_and_documented():
    for name in sev.datasets.__all__:
        assert getattr(sev.datasets, name).__doc__
