import { isObject, type JsonObject } from "../../../data/json.ts";
import { createShellInvocation } from "../../../domain/tools/shell-invocation.ts";
import {
  chooseShell,
  setDefaultShell,
  type ShellList,
  type ShellChoice,
} from "../../../domain/tools/shell.ts";
import { createInternalError, createMethodNotFound } from "../../jsonrpc/rpc-error.ts";
import { type DecodeResult, accept, rejectParams } from "../json-fields.ts";
import type { HostOperation } from "./host-operation.ts";
import { encodeShellInvocation, encodeShellList } from "./shell-replies.ts";
import { readBooleanField, readShell, encodeShell, readStringField } from "./shell-fields.ts";
import { SHELL_OPERATIONS } from "./shell-requests.ts";

export interface ShellOperationResult {
  readonly result: JsonObject;
  /** The shells of the session after the operation, with a new default if it was changed. */
  readonly knownShells: ShellList;
}

/** Performs a shell operation with the shells of a machine: the host's, or Spanline's own without a host. */
export function performShellOperation(
  knownShells: ShellList,
  { name, args }: HostOperation,
): DecodeResult<ShellOperationResult> {
  switch (name) {
    case SHELL_OPERATIONS.list:
      return accept({ result: encodeShellList(knownShells), knownShells });
    case SHELL_OPERATIONS.getDefault:
      return encodeDefaultShell(knownShells);
    case SHELL_OPERATIONS.setDefault:
      return chooseDefaultShell(knownShells, args);
    case SHELL_OPERATIONS.invocation:
      return resolveShellInvocation(knownShells, args);
    default:
      return { ok: false, error: createMethodNotFound(name) };
  }
}

function encodeDefaultShell(knownShells: ShellList): DecodeResult<ShellOperationResult> {
  const shell = chooseShell(knownShells, {});
  if (shell === undefined) return { ok: false, error: createInternalError(NO_SHELL_MESSAGE) };
  return accept({ result: encodeShell(shell), knownShells });
}

function chooseDefaultShell(
  knownShells: ShellList,
  args: JsonObject,
): DecodeResult<ShellOperationResult> {
  const shellId = readStringField(args, "shell_id");
  if (shellId === undefined) return rejectParams('"shell_id" is missing');
  const chosen = setDefaultShell(knownShells, shellId);
  return chosen === undefined ? rejectShellId(knownShells, shellId) : encodeDefaultShell(chosen);
}

function resolveShellInvocation(
  knownShells: ShellList,
  args: JsonObject,
): DecodeResult<ShellOperationResult> {
  const { command } = args;
  if (typeof command !== "string") return rejectParams('"command" is missing');
  const choice = readShellChoice(args);
  if (!choice.ok) return choice;
  const shell = chooseShell(knownShells, choice.value);
  if (shell === undefined) return rejectShellId(knownShells, choice.value.shellId);
  const login = readBooleanField(args, "login") ?? false;
  const interactive = readBooleanField(args, "interactive") ?? false;
  const invocation = createShellInvocation(shell, { command, login, interactive });
  return accept({ result: encodeShellInvocation(invocation), knownShells });
}

/** Reads the requested shell. A shell object with an id and no path stands for the id. */
function readShellChoice({ shell, shell_id: shellId }: JsonObject): DecodeResult<ShellChoice> {
  if (isObject(shell) && shell["path"] === undefined && shell["id"] !== undefined) {
    return readShellChoice({ shell_id: shell["id"] });
  }
  if (shell !== undefined && shell !== null) {
    const readResult = readShell(shell);
    return readResult.ok ? accept({ shell: readResult.value }) : rejectParams(readResult.problem);
  }
  if (shellId === undefined || shellId === null) return accept({});
  return typeof shellId === "string"
    ? accept({ shellId })
    : rejectParams('"shell_id" is not a string');
}

function rejectShellId({ shells }: ShellList, shellId: string | undefined): DecodeResult<never> {
  const ids = shells.flatMap(({ id, isAvailable }) => (isAvailable ? [id] : []));
  if (shellId === undefined || ids.length === 0) {
    return { ok: false, error: createInternalError(NO_SHELL_MESSAGE) };
  }
  const quotedId = JSON.stringify(shellId.slice(0, MAX_SHOWN_CHARACTERS));
  return rejectParams(`${quotedId} is not an available shell: expected ${ids.join(", ")}`);
}

const NO_SHELL_MESSAGE = "No shell was found on this machine";
const MAX_SHOWN_CHARACTERS = 100;
