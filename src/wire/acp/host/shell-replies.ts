import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import type { ShellInvocation } from "../../../domain/tools/shell-invocation.ts";
import type { ShellList, Shell } from "../../../domain/tools/shell.ts";
import type { RpcResponse } from "../../jsonrpc/rpc-message.ts";
import { readHostReply, type HostReply } from "./host-reply.ts";
import { acceptValue, rejectValue, unwrap, type ReadResult } from "./read-result.ts";
import { readShell, encodeShell, readStringField } from "./shell-fields.ts";
import { SHELL_OPERATIONS } from "./shell-requests.ts";

export function readShellList(answer: RpcResponse): HostReply<ShellList> {
  return readHostReply(SHELL_OPERATIONS.list, answer, readKnownShells);
}

/**
 * Reads the reply to a request that reads or changes the default shell. `knownShells` are the shells that this host
 * listed.
 */
export function readDefaultShell(
  operation: "getDefault" | "setDefault",
  answer: RpcResponse,
  knownShells: ShellList,
): HostReply<Shell> {
  return readHostReply(SHELL_OPERATIONS[operation], answer, (result) =>
    readShell(unwrap(result, "path"), { knownShells }),
  );
}

export function readShellInvocation(answer: RpcResponse): HostReply<ShellInvocation> {
  return readHostReply(SHELL_OPERATIONS.invocation, answer, readInvocation);
}

export function encodeShellList({ shells, defaultId }: ShellList): JsonObject {
  return { shells: shells.map(encodeShell), default_shell_id: defaultId };
}

export function encodeShellInvocation(invocation: ShellInvocation): JsonObject {
  const { program, args, commandIndex, shell } = invocation;
  return { program, args, command_arg_index: commandIndex, shell: encodeShell(shell) };
}

function readKnownShells(result: JsonValue): ReadResult<ShellList> {
  const inner = unwrap(result, "shells");
  if (!isObject(inner) || !Array.isArray(inner["shells"])) {
    return rejectValue("it has no list of shells");
  }
  const entries: readonly JsonValue[] = inner["shells"];
  if (entries.length > MAX_SHELLS) {
    return rejectValue(`it has ${entries.length} shells, more than ${MAX_SHELLS}`);
  }
  const shells = new Map<string, Shell>();
  for (const entry of entries) {
    const shell = readShell(entry);
    if (!shell.ok) return shell;
    const { id } = shell.value;
    if (shells.has(id)) return rejectValue(`it has two shells with the id ${JSON.stringify(id)}`);
    shells.set(id, shell.value);
  }
  const requestedDefaultId = readStringField(inner, "default_shell_id");
  const all = [...shells.values()];
  return acceptValue({ shells: all, defaultId: resolveDefaultId(all, requestedDefaultId) });
}

/** Returns the requested default, or the first available shell if the host names none or an unavailable shell. */
function resolveDefaultId(
  shells: readonly Shell[],
  requestedId: string | undefined,
): string | null {
  const usable = shells.filter(({ isAvailable }) => isAvailable);
  return (usable.find(({ id }) => id === requestedId) ?? usable[0])?.id ?? null;
}

const MAX_SHELLS = 64;

function readInvocation(result: JsonValue): ReadResult<ShellInvocation> {
  const inner = unwrap(result, "program");
  const program = isObject(inner) ? readStringField(inner, "program") : undefined;
  if (!isObject(inner) || program === undefined) return rejectValue("it has no program");
  const { args, command_arg_index: index } = inner;
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === "string") || args.length === 0) {
    return rejectValue('"args" is not valid: expected a non-empty list of strings');
  }
  const commandIndex = index ?? args.length - 1;
  if (typeof commandIndex !== "number" || args[commandIndex] === undefined) {
    return rejectValue('"command_arg_index" is not the index of an argument');
  }
  // Some hosts send only the id of the shell.
  const shell = readShell(inner["shell"] ?? {}, { program });
  return shell.ok ? acceptValue({ program, args, commandIndex, shell: shell.value }) : shell;
}
