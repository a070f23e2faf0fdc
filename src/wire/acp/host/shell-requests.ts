import type { ShellLine } from "../../../domain/tools/shell-invocation.ts";
import type { ShellChoice } from "../../../domain/tools/shell.ts";
import { encodeHostCallRequest, type HostRequest } from "./host-request.ts";
import { encodeShell } from "./shell-fields.ts";

export const SHELL_OPERATIONS = {
  list: "process.list_shells",
  getDefault: "process.get_default_shell",
  setDefault: "process.set_default_shell",
  invocation: "process.shell_invocation",
} as const;

export function encodeListShellsRequest(): HostRequest {
  return encodeHostCallRequest(SHELL_OPERATIONS.list, {});
}

export function encodeGetDefaultShellRequest(): HostRequest {
  return encodeHostCallRequest(SHELL_OPERATIONS.getDefault, {});
}

/**
 * Encodes a request to change the host's default shell. Hosts without support get the chosen shell with every command
 * instead.
 */
export function encodeSetDefaultShellRequest(shellId: string): HostRequest {
  return encodeHostCallRequest(SHELL_OPERATIONS.setDefault, { shell_id: shellId });
}

export function encodeShellInvocationRequest({
  shell,
  shellId,
  command,
  login = false,
  interactive = false,
}: ShellChoice & ShellLine): HostRequest {
  return encodeHostCallRequest(SHELL_OPERATIONS.invocation, {
    ...(shell !== undefined && { shell: encodeShell(shell) }),
    ...(shell === undefined && shellId !== undefined && { shell_id: shellId }),
    command,
    login,
    interactive,
  });
}
