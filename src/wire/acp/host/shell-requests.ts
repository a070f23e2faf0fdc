import type { ShellLine } from "../../../domain/shell-invocation.ts";
import type { ShellChoice } from "../../../domain/shell.ts";
import { hostCallRequest, type HostRequest } from "./host-request.ts";
import { shellFields } from "./shell-fields.ts";

export const SHELL_OPERATIONS = {
  list: "process.list_shells",
  getDefault: "process.get_default_shell",
  setDefault: "process.set_default_shell",
  invocation: "process.shell_invocation",
} as const;

export function listShellsRequest(): HostRequest {
  return hostCallRequest(SHELL_OPERATIONS.list, {});
}

export function getDefaultShellRequest(): HostRequest {
  return hostCallRequest(SHELL_OPERATIONS.getDefault, {});
}

/** Not every host can: then what was chosen goes along with every command. */
export function setDefaultShellRequest(shellId: string): HostRequest {
  return hostCallRequest(SHELL_OPERATIONS.setDefault, { shell_id: shellId });
}

export function shellInvocationRequest({
  shell,
  shellId,
  command,
  login = false,
  interactive = false,
}: ShellChoice & ShellLine): HostRequest {
  return hostCallRequest(SHELL_OPERATIONS.invocation, {
    ...(shell !== undefined && { shell: shellFields(shell) }),
    ...(shell === undefined && shellId !== undefined && { shell_id: shellId }),
    command,
    login,
    interactive,
  });
}
