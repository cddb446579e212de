"""``sev app`` and ``sev serve``."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from sev.cli._errors import debug
from sev.cli._labels import label_options, load_with_labels
from sev.cli._options import Command, trust_pickle

if TYPE_CHECKING:
    from sev import Explainer
    from sev.app import Table


#: Where the token may come from, so that it stands in no list of processes.
TOKEN_VARIABLE = "SEV_TOKEN"
#: Names by which the service may be called, where arguments are awkward, as in a container.
HOSTS_VARIABLE = "SEV_ALLOW_HOST"
LOOPBACK = "127.0.0.1"
#: What a name of a host may be made of.
_HOST_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?", re.IGNORECASE)


def _read_host_names(context: click.Context, option: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not _HOST_NAME.fullmatch(name):
            raise click.BadParameter(f"{name!r} is not the name of a host: write sev, not http://sev:8080, and no *.")
    return names


class _ServiceOptions(TypedDict):
    """What ``sev app`` and ``sev serve`` have in common."""

    host: str
    allowed_hosts: tuple[str, ...]
    port: int
    codes: str | None
    id_column: str | None
    labels: str | None
    language: str | None
    trust_pickle: bool


def _service_options(command: Command) -> Command:
    for option in (
        debug,
        trust_pickle,
        click.option("--codes", type=click.Path(), help="YAML or JSON file of reason codes, for letters."),
        click.option(
            "--host",
            default=LOOPBACK,
            help=f"Address to listen on, default this machine only. Any other needs a token: ${TOKEN_VARIABLE}, or a "
            "new one that is printed.",
        ),
        click.option(
            "--allow-host",
            "allowed_hosts",
            multiple=True,
            metavar="NAME",
            envvar=HOSTS_VARIABLE,
            callback=_read_host_names,
            help="Name by which others call this service, such as that of its container or proxy; repeatable, or "
            f"${HOSTS_VARIABLE} with spaces between. Needs a token, as --host does.",
        ),
        click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0, the default, is any free one."),
        click.option("--id", "id_column", help="Column of the data that names the rows."),
        label_options,
    ):
        command = option(command)
    return command


@click.command()
@click.argument("explainers", nargs=-1, type=click.Path(exists=True, dir_okay=False))
@click.option("--data", type=click.Path(), help="Table of decisions: Parquet, CSV, TSV, JSON lines or Feather.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in the browser.")
@click.option("--readonly", is_flag=True, help="Decisions can be looked at, not edited.")
@click.option("--title", default="", help="Heading of the page.")
@_service_options
def app(
    explainers: tuple[str, ...],
    data: str | None,
    open_browser: bool,
    readonly: bool,
    title: str,
    **options: Unpack[_ServiceOptions],
) -> None:
    """Open a page on which decisions can be looked at and edited; without EXPLAINERS, on the bundled loan data.

    Nothing leaves this machine, and nothing that is typed is stored. Two explainers stand beside each other.

    \b
    Example:
      sev app loans.sev --data applicants.csv --open
    """
    _start_service(
        explainers, data, with_page=True, open_browser=open_browser, readonly=readonly, title=title, **options
    )


@click.command()
@click.argument("explainers", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("--data", type=click.Path(), help="Table of decisions, for the requests about all of them.")
@_service_options
def serve(explainers: tuple[str, ...], data: str | None, **options: Unpack[_ServiceOptions]) -> None:
    """Serve the JSON interface without the page; its OpenAPI document is at /api/openapi.json.

    \b
    Example:
      sev serve loans.sev --port 8080
    """
    _start_service(explainers, data, with_page=False, open_browser=False, readonly=False, title="", **options)


def _start_service(
    paths: tuple[str, ...],
    data: str | None,
    *,
    with_page: bool,
    open_browser: bool,
    readonly: bool,
    title: str,
    host: str,
    allowed_hosts: tuple[str, ...],
    port: int,
    codes: str | None,
    id_column: str | None,
    labels: str | None,
    language: str | None,
    trust_pickle: bool,
) -> None:
    from sev.app import Service, Settings, Table, address_of, create_app, open_socket, run

    token = _token_for(host, allowed_hosts)
    # starting takes seconds: whoever waits is told what for
    click.echo(f"Loading {', '.join(map(str, paths)) or 'the bundled loan data'} ...", err=True)
    if paths:
        loaded = [
            (Path(path).stem, load_with_labels(path, labels, language, trust_pickle=trust_pickle)) for path in paths
        ]
        table = None if data is None else Table.open(data, loaded[0][1].form, id_column)
    else:
        _refuse_data_alone(data)
        loaded, table = _make_bundled_explainer()
    click.echo("Preparing the decisions ...", err=True)
    service = Service(loaded, table, codes=codes, settings=Settings(title=title, readonly=readonly))
    listening = open_socket(host, port)
    application = create_app(service, with_page=with_page, hosts=[host, *allowed_hosts], token=token)
    service.about()  # what every page needs first: made before anybody waits for it
    address = address_of(listening, host)
    if token is not None and with_page:
        address = f"{address}#token={token}"
    click.echo(f"{'The page is at' if with_page else 'The service is at'} {address} (Ctrl-C ends it)")
    if token is not None and not with_page and TOKEN_VARIABLE not in os.environ:
        click.echo(f"Token: {token}")
    if open_browser:
        _open_later(address)
    run(application, listening)


def _token_for(host: str, allowed_hosts: tuple[str, ...]) -> str | None:
    """The token that everybody needs who comes from elsewhere, or by a name that a name server can point here."""
    from sev.app import new_token
    from sev.exceptions import InputError

    given = os.environ.get(TOKEN_VARIABLE)
    if given is not None and len(given) < 16:
        raise InputError(f"{TOKEN_VARIABLE} is too short for a secret: use at least 16 characters.")
    if given is not None:
        return given
    return None if host in (LOOPBACK, "localhost", "::1") and not allowed_hosts else new_token()


def _refuse_data_alone(data: str | None) -> None:
    from sev.exceptions import InputError

    if data is not None:
        raise InputError("--data needs the explainer of its decisions: sev app loans.sev --data applicants.csv.")


def _make_bundled_explainer() -> tuple[list[tuple[str, Explainer]], Table]:
    from sev.app import Table
    from sev.demo import explainer_and_applicants

    explainer, applicants = explainer_and_applicants()
    return [("German Credit", explainer)], Table.of_frame(applicants, applicants.columns[0])


def _open_later(address: str) -> None:
    """Open the browser once the server listens; the socket takes connections already."""
    import threading
    import webbrowser

    threading.Timer(0.5, webbrowser.open, [address]).start()
