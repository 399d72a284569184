"""The SDK's server, which refuses arguments that a tool has not, and says what is wrong with others in one sentence."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from pydantic import ValidationError

from records.program_version import program_version

MOST_TOLD = 3  # faults of one call
MOST_NAME = 80  # characters


class StrictServer(MCPServer[Any]):
    """A server whose tools take what they name; the SDK's own leaves out an argument that it does not know."""

    def __init__(self, instructions: str) -> None:
        """`instructions` tell the client what this program is for; it logs warnings alone, to standard error."""
        super().__init__(
            "kernel-scientist",
            title="GPU Kernel Scientist",
            version=program_version(),
            instructions=instructions,
            log_level="WARNING",
        )

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """As the SDK's; ToolError of one sentence where the arguments cannot be."""
        tool = next((candidate for candidate in await self.list_tools() if candidate.name == name), None)
        properties = tool.input_schema.get("properties", {}) if tool is not None else arguments
        for argument in arguments:
            if argument not in properties:
                names = ", ".join(properties) or "none"
                raise ToolError(f"the tool {name} has no argument {argument[:MOST_NAME]!r}; it has {names}")
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise  # our own fault, such as an answer that its schema refuses: the server's log says it
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(sentence_of(error.__cause__)) from None
            raise


def sentence_of(fault: ValidationError) -> str:
    """Put the first faults of a call's arguments into one sentence, without the values."""
    faults = [f"{_argument_name(e['loc'])}: {e['msg']}" for e in fault.errors(include_url=False)]
    unsaid = f"; and {len(faults) - MOST_TOLD} more" if len(faults) > MOST_TOLD else ""
    return f"the arguments cannot be: {'; '.join(faults[:MOST_TOLD])}{unsaid}"


def _argument_name(location: tuple[int | str, ...]) -> str:
    """Name the argument, and the field of it, whose name a client may have chosen."""
    return " ".join(".".join(map(str, location)).split())[:MOST_NAME] or "the call"
