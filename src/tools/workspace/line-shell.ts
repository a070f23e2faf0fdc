import { chosenShell, type KnownShells } from "../../domain/shell.ts";
import { shellInvocation } from "../../domain/shell-invocation.ts";
import { refusal } from "./refusal.ts";

export interface LineProgram {
  readonly argv: readonly string[];
  /** Why it is run by another shell than the default. */
  readonly note?: string;
}

/**
 * How a line is run: by the shell that the call names, which the rules have heard of, or by the default. The rules read
 * lines as `sh` and its like do; one of another language would be judged by what it does not mean, so it is not the
 * default.
 */
export function lineProgram(
  command: string,
  known: KnownShells,
  shellId: string | undefined,
): LineProgram {
  const shell = chosenShell(known, shellId === undefined ? {} : { shellId });
  if (shell === undefined && shellId !== undefined) {
    const ids = known.shells.flatMap(({ id, isAvailable }) => (isAvailable ? [id] : []));
    throw refusal(
      "invalid",
      `There is no shell ${JSON.stringify(shellId)}; there is ${ids.join(", ")}`,
    );
  }
  const isRead = shell !== undefined && READ_SHELLS.has(shell.id);
  if (shell !== undefined && (isRead || shellId !== undefined)) {
    const { program, args } = shellInvocation(shell, { command });
    return { argv: [program, ...args] };
  }
  const argv = ["/bin/sh", "-c", command];
  return shell === undefined
    ? { argv }
    : { argv, note: `by /bin/sh, since no rule can read a line for ${shell.id}` };
}

/** As `src/policy/command` has them. */
export const READ_SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash"]);
