"""The widget in a real notebook: a kernel runs the cells, and the page's calls travel over its comm."""

import asyncio
import uuid

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("anywidget")

CELLS = [
    "import warnings; warnings.simplefilter('ignore')\n"
    "from sev import demo\n"
    "explainer, applicants = demo.explainer_and_applicants()",
    "shown = explainer.widget(applicants, title='Loans', language='de')\nshown",
    "shown.close()",
]


class Notebook:
    """A notebook with its kernel, and the other end of the widget's comm."""

    def __init__(self, cells):
        self.book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        self.client = nbclient.NotebookClient(self.book, timeout=300, kernel_name="python3")

    async def run(self, place):
        await self.client.async_execute_cell(self.book.cells[place], place)
        return self.book.cells[place].outputs

    async def call(self, comm, name, **params):
        """What the page does: send a call, wait for the reply to it."""
        number = f"{name}-{uuid.uuid4()}"
        content = {"id": number, "name": name, "params": params}
        channel = self.client.kc
        message = channel.session.msg("comm_msg", {"comm_id": comm, "data": {"method": "custom", "content": content}})
        channel.shell_channel.send(message)
        while True:
            reply = await channel.get_iopub_msg(timeout=300)
            data = reply["content"].get("data", {})
            if reply["msg_type"] == "comm_msg" and data.get("method") == "custom" and data["content"]["id"] == number:
                assert reply["content"]["comm_id"] == comm
                return data["content"]


async def use_the_widget(refused):
    notebook = Notebook(CELLS)
    async with notebook.client.async_setup_kernel():
        await notebook.run(0)
        [output] = await notebook.run(1)
        comm = output["data"]["application/vnd.jupyter.widget-view+json"]["model_id"]
        state = notebook.client.widget_state[comm]
        found = {
            "state": state,
            "about": await notebook.call(comm, "about"),
            "rows": await notebook.call(comm, "rows", limit=2),
            "explain": await notebook.call(comm, "explain", row=refused, edits={"duration": 12}),
            "error": await notebook.call(comm, "explain", row=10_000),
        }
        await notebook.run(2)
    return found


def test_a_notebook_shows_the_widget_and_the_kernel_answers_its_calls(client, loans, refused):
    found = asyncio.run(asyncio.wait_for(use_the_widget(refused[0]), 900))
    state = found["state"]
    assert state["_anywidget_id"].endswith("PageWidget")
    assert state["_esm"].rstrip().endswith("export default $entry.widget;")
    assert state["language"] == "de"
    assert ".sev" in state["css"]
    about = found["about"]["result"]
    assert (about["title"], about["has_page"], about["table"]["rows"]) == ("Loans", True, 200)
    assert [row["row"] for row in found["rows"]["result"]["rows"]] == [0, 1]
    served = client.post("/api/explain", json={"row": refused[0], "edits": {"duration": 12}}).json()
    assert {**found["explain"]["result"], "milliseconds": 0} == {**served, "milliseconds": 0}
    assert found["error"]["error"]["code"] == "not_found"
