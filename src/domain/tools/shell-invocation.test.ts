import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createShell } from "./create-shell.ts";
import { createShellInvocation } from "./shell-invocation.ts";

function at(path: string) {
  return createShell({ path, platform: "linux", source: "env", isAvailable: true });
}

describe("createShellInvocation", () => {
  const zsh = at("/bin/zsh");
  const cmd = at("C:\\Windows\\System32\\cmd.exe");
  const pwsh = at("C:\\pwsh.exe");
  const powerShell = ["-NoProfile", "-Command", "ls"];

  it.each([
    [zsh, {}, ["-c", "ls"]],
    [zsh, { login: true }, ["-l", "-c", "ls"]],
    [zsh, { interactive: true }, ["-i", "-c", "ls"]],
    [zsh, { login: true, interactive: true }, ["-i", "-l", "-c", "ls"]],
    [{ ...zsh, defaultArgs: ["-i", "-c"] }, { interactive: true }, ["-i", "-c", "ls"]],
    [{ ...zsh, supportsLogin: false }, { login: true }, ["-c", "ls"]],
    [cmd, {}, ["/C", "ls"]],
    [cmd, { login: true, interactive: true }, ["/C", "ls"]],
    [pwsh, {}, powerShell],
    [pwsh, { login: true, interactive: true }, powerShell],
    [at("/bin/tcsh"), { login: true, interactive: true }, ["-i", "-c", "ls"]],
  ])(
    "An invocation of %o with %o has the arguments %j [B-242] [B-248] [B-249]",
    (shell, wish, args) => {
      expect(createShellInvocation(shell, { command: "ls", ...wish })).toEqual({
        program: shell.path,
        args,
        commandIndex: args.length - 1,
        shell,
      });
    },
  );

  it("The command is the last argument, and commandIndex points to it [B-249]", () => {
    const path = fc.constantFrom("/bin/sh", "/bin/fish", "cmd.exe", "pwsh.exe", "/bin/csh");
    fc.assert(
      fc.property(path, fc.string(), fc.boolean(), fc.boolean(), (path, command, ...flags) => {
        const [login, interactive] = flags;
        const made = createShellInvocation(at(path), { command, login, interactive });
        expect(made.args[made.commandIndex]).toBe(command);
        expect(made.commandIndex).toBe(made.args.length - 1);
        expect(made.program).toBe(path);
      }),
    );
  });
});
