import { chooseShell, type ShellList } from "../../domain/tools/shell.ts";
import { createShellInvocation } from "../../domain/tools/shell-invocation.ts";
import { createRefusal } from "./tool-refusal.ts";

export interface ShellCommand {
  readonly argv: readonly string[];
  /** Why it is run by another shell than the default. */
  readonly note?: string;
}

/**
 * How a line is run: by the shell that the call names, which the rules have heard of, or by the default. The rules read
 * lines as `sh` and its like do; one of another language would be judged by what it does not mean, so it is not the
 * default.
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
      `There is no shell ${JSON.stringify(shellId)}; there is ${ids.join(", ")}`,
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
    : { argv, note: `by /bin/sh, since no rule can read a line for ${shell.id}` };
}

/** As `src/policy/command` has them. */
export const POSIX_SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash"]);
