"""Execute a notebook."""

import sys

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient


class Kernel(AsyncKernelManager):
    """The interpreter of the tests, whatever kernels are installed for this user."""

    @property
    def kernel_spec(self) -> KernelSpec:
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=command, display_name="Python", language="python")


def executed(*cells: str) -> list[list[dict]]:
    """Return the outputs of each cell of a notebook that is executed from its beginning."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=120, kernel_manager_class=Kernel).execute()
    return [cell.outputs for cell in notebook.cells]
