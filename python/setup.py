# SPDX-License-Identifier: Apache-2.0
"""Packs the built package as a wheel. `./dev wheel` puts the files together and calls this."""
import os
import sys

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel

if "LEMMA_WHEEL_TAG" not in os.environ:
    sys.exit("the package has a library in it, which `./dev wheel` builds")


class BinaryDistribution(Distribution):
    def has_ext_modules(self) -> bool:
        return True


class Wheel(bdist_wheel):
    def get_tag(self):
        python, abi, _ = super().get_tag()
        return python, abi, os.environ["LEMMA_WHEEL_TAG"]


setup(
    version=os.environ["LEMMA_VERSION"],
    distclass=BinaryDistribution,
    cmdclass={"bdist_wheel": Wheel},
)
