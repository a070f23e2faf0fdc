import { isObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import type { ShellInvocation } from "../../../domain/shell-invocation.ts";
import type { KnownShells, Shell } from "../../../domain/shell.ts";
import type { RpcAnswer } from "../../jsonrpc/rpc-message.ts";
import { hostAnswer, type HostAnswer } from "./host-answer.ts";
import { read, unreadable, unwrapped, type Reading } from "./reading.ts";
import { readShell, shellFields, textIn } from "./shell-fields.ts";
import { SHELL_OPERATIONS } from "./shell-requests.ts";

export function readShellList(answer: RpcAnswer): HostAnswer<KnownShells> {
  return hostAnswer(SHELL_OPERATIONS.list, answer, readKnownShells);
}

/** The answer to a request for the default, or to one for another. `known` are the shells that this host listed. */
export function readDefaultShell(
  operation: "getDefault" | "setDefault",
  answer: RpcAnswer,
  known: KnownShells,
): HostAnswer<Shell> {
  return hostAnswer(SHELL_OPERATIONS[operation], answer, (result) =>
    readShell(unwrapped(result, "path"), { known }),
  );
}

export function readShellInvocation(answer: RpcAnswer): HostAnswer<ShellInvocation> {
  return hostAnswer(SHELL_OPERATIONS.invocation, answer, readInvocation);
}

export function shellListResult({ shells, defaultId }: KnownShells): JsonObject {
  return { shells: shells.map(shellFields), default_shell_id: defaultId };
}

export function shellInvocationResult(invocation: ShellInvocation): JsonObject {
  const { program, args, commandIndex, shell } = invocation;
  return { program, args, command_arg_index: commandIndex, shell: shellFields(shell) };
}

function readKnownShells(result: JsonValue): Reading<KnownShells> {
  const inner = unwrapped(result, "shells");
  if (!isObject(inner) || !Array.isArray(inner["shells"])) {
    return unreadable("it has no list of shells");
  }
  const given: readonly JsonValue[] = inner["shells"];
  if (given.length > MOST_SHELLS) {
    return unreadable(`it has ${given.length} shells, more than ${MOST_SHELLS}`);
  }
  const shells = new Map<string, Shell>();
  for (const one of given) {
    const shell = readShell(one);
    if (!shell.ok) return shell;
    const { id } = shell.value;
    if (shells.has(id)) return unreadable(`it has two shells with the id ${JSON.stringify(id)}`);
    shells.set(id, shell.value);
  }
  const said = textIn(inner, "default_shell_id");
  const all = [...shells.values()];
  return read({ shells: all, defaultId: defaultOf(all, said) });
}

/** Where the host says none, or one that cannot be used, the first of its list that can. */
function defaultOf(shells: readonly Shell[], said: string | undefined): string | null {
  const usable = shells.filter(({ isAvailable }) => isAvailable);
  return (usable.find(({ id }) => id === said) ?? usable[0])?.id ?? null;
}

const MOST_SHELLS = 64;

function readInvocation(result: JsonValue): Reading<ShellInvocation> {
  const inner = unwrapped(result, "program");
  const program = isObject(inner) ? textIn(inner, "program") : undefined;
  if (!isObject(inner) || program === undefined) return unreadable("it has no program");
  const { args, command_arg_index: index } = inner;
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === "string") || args.length === 0) {
    return unreadable('"args" is not a list of texts with the command in it');
  }
  const commandIndex = index ?? args.length - 1;
  if (typeof commandIndex !== "number" || args[commandIndex] === undefined) {
    return unreadable('"command_arg_index" is not the place of an argument');
  }
  // Some say only the id of the shell.
  const shell = readShell(inner["shell"] ?? {}, { program });
  return shell.ok ? read({ program, args, commandIndex, shell: shell.value }) : shell;
}
