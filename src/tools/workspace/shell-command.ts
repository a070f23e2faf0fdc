import { chooseShell, type ShellList } from "../../domain/tools/shell.ts";
import { createShellInvocation } from "../../domain/tools/shell-invocation.ts";
import { createRefusal } from "./tool-refusal.ts";

export interface ShellCommand {
  readonly argv: readonly string[];
  /** Why a shell other than the default runs the command. */
  readonly note?: string;
}

/**
 * Selects the shell for a command line: the shell named in the call, which the policy has evaluated, or the default.
 * The policy analyzes commands with the grammar of `sh`, so a shell with another grammar is never used by default: its
 * commands would be misread.
 */
export function resolveShellCommand(
  command: string,
  shells: ShellList,
  shellId: string | undefined,
): ShellCommand {
  const shell = chooseShell(shells, shellId === undefined ? {} : { shellId });
  if (shell === undefined && shellId !== undefined) {
    const ids = shells.shells.flatMap(({ id, isAvailable }) => (isAvailable ? [id] : []));
    throw createRefusal(
      "invalid",
      `Unknown shell ${JSON.stringify(shellId)}: expected ${ids.join(", ")}`,
    );
  }
  const isRead = shell !== undefined && POSIX_SHELLS.has(shell.id);
  if (shell !== undefined && (isRead || shellId !== undefined)) {
    const { program, args } = createShellInvocation(shell, { command });
    return { argv: [program, ...args] };
  }
  const argv = ["/bin/sh", "-c", command];
  return shell === undefined
    ? { argv }
    : { argv, note: `by /bin/sh, since policy rules cannot analyze commands for ${shell.id}` };
}

/** Must match `SHELLS` in `src/policy/command`. */
export const POSIX_SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash"]);
