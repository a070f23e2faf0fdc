import { isObject, type JsonObject } from "../../../domain/json.ts";
import { shellInvocation } from "../../../domain/shell-invocation.ts";
import {
  chosenShell,
  withDefaultShell,
  type KnownShells,
  type ShellChoice,
} from "../../../domain/shell.ts";
import { internalError, methodNotFound } from "../../jsonrpc/rpc-error.ts";
import { type Decoded, decoded, refusedParams } from "../decoded.ts";
import type { NamedCall } from "./named-call.ts";
import { shellInvocationResult, shellListResult } from "./shell-answers.ts";
import { flagIn, readShell, shellFields, textIn } from "./shell-fields.ts";
import { SHELL_OPERATIONS } from "./shell-requests.ts";

export interface PerformedShellCall {
  readonly result: JsonObject;
  /** What the session knows from now on: another default, or the same as before. */
  readonly known: KnownShells;
}

/** Does what is asked about shells with those of a machine: a host's, or ours where no host is there to be asked. */
export function performShellCall(
  known: KnownShells,
  { name, args }: NamedCall,
): Decoded<PerformedShellCall> {
  switch (name) {
    case SHELL_OPERATIONS.list:
      return decoded({ result: shellListResult(known), known });
    case SHELL_OPERATIONS.getDefault:
      return defaultShell(known);
    case SHELL_OPERATIONS.setDefault:
      return chooseDefault(known, args);
    case SHELL_OPERATIONS.invocation:
      return invoke(known, args);
    default:
      return { ok: false, error: methodNotFound(name) };
  }
}

function defaultShell(known: KnownShells): Decoded<PerformedShellCall> {
  const shell = chosenShell(known, {});
  if (shell === undefined) return { ok: false, error: internalError(NO_SHELL) };
  return decoded({ result: shellFields(shell), known });
}

function chooseDefault(known: KnownShells, args: JsonObject): Decoded<PerformedShellCall> {
  const shellId = textIn(args, "shell_id");
  if (shellId === undefined) return refusedParams('"shell_id" is missing');
  const chosen = withDefaultShell(known, shellId);
  return chosen === undefined ? refusedId(known, shellId) : defaultShell(chosen);
}

function invoke(known: KnownShells, args: JsonObject): Decoded<PerformedShellCall> {
  const { command } = args;
  if (typeof command !== "string") return refusedParams('"command" is missing');
  const choice = readChoice(args);
  if (!choice.ok) return choice;
  const shell = chosenShell(known, choice.value);
  if (shell === undefined) return refusedId(known, choice.value.shellId);
  const login = flagIn(args, "login") ?? false;
  const interactive = flagIn(args, "interactive") ?? false;
  const invocation = shellInvocation(shell, { command, login, interactive });
  return decoded({ result: shellInvocationResult(invocation), known });
}

/** A shell that says only its id is meant by that. */
function readChoice({ shell, shell_id: shellId }: JsonObject): Decoded<ShellChoice> {
  if (isObject(shell) && shell["path"] === undefined && shell["id"] !== undefined) {
    return readChoice({ shell_id: shell["id"] });
  }
  if (shell !== undefined && shell !== null) {
    const given = readShell(shell);
    return given.ok ? decoded({ shell: given.value }) : refusedParams(given.problem);
  }
  if (shellId === undefined || shellId === null) return decoded({});
  return typeof shellId === "string"
    ? decoded({ shellId })
    : refusedParams('"shell_id" is not a string');
}

function refusedId({ shells }: KnownShells, shellId: string | undefined): Decoded<never> {
  const ids = shells.flatMap(({ id, isAvailable }) => (isAvailable ? [id] : []));
  if (shellId === undefined || ids.length === 0) {
    return { ok: false, error: internalError(NO_SHELL) };
  }
  const wanted = JSON.stringify(shellId.slice(0, MOST_SHOWN));
  return refusedParams(`there is no shell ${wanted}; there are ${ids.join(", ")}`);
}

const NO_SHELL = "No shell was found on this machine";
const MOST_SHOWN = 100;
