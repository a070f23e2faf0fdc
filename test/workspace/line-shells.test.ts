import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createShell } from "../../src/domain/tools/create-shell.ts";
import type { ShellList } from "../../src/domain/tools/shell.ts";
import { readCommandFacts } from "../../src/policy/command/command-facts.ts";
import { POSIX_SHELLS } from "../../src/tools/workspace/run-command-tool.ts";
import { createTestWorkspace, createTemporaryFolder } from "../support/session/test-workspace.ts";

const place = { platform: "linux", source: "host", isAvailable: true } as const;
const known = (...paths: readonly string[]): ShellList => {
  const shells = paths.map((path) => createShell({ ...place, path }));
  return { shells, defaultId: shells[0]?.id ?? null };
};
const editorWith = (shells: ShellList) => ({
  editor: {
    clientId: "ide",
    readsFiles: false,
    writesFiles: false,
    runsTerminals: false,
    shells,
  },
});

/** A shell with another syntax which prints its own name. */
function strangeShell(): string {
  const path = join(createTemporaryFolder(), "zsh");
  writeFileSync(path, '#!/bin/sh\necho "zsh runs $2"\n');
  chmodSync(path, 0o755);
  return path;
}

describe("The shell of a command line", () => {
  const line = { command: 'echo "by $0"' };

  it.each(["bash", "sh"])(
    "A command line runs in %s if the machine's user chose it [B-238] [B-250]",
    async (id) => {
      const environment = { PATH: "/usr/bin:/bin", SPANLINE_SHELL: `/bin/${id}` };
      const { run } = createTestWorkspace({ environment });
      expect((await run("run_command", line)).text).toContain(`by /bin/${id}`);
    },
  );

  it("A command line runs in the shell that the editor chose [B-243] [B-250]", async () => {
    const environment = { PATH: "/usr/bin:/bin", SPANLINE_SHELL: "/bin/sh" };
    const { run } = createTestWorkspace({ environment });
    const shells = known("/usr/bin/bash", "/bin/sh");
    expect((await run("run_command", line, editorWith(shells))).text).toContain("by /usr/bin/bash");
  });

  it("A command line runs in /bin/sh, and says so, if no rule can parse the chosen shell [B-250] [W-04]", async () => {
    const { run } = createTestWorkspace();
    const { text } = await run("run_command", line, editorWith(known(strangeShell())));
    expect(text).toContain("by /bin/sh, since policy rules cannot analyze commands for zsh");
    expect(text).toContain("stdout:\nby /bin/sh");
  });

  it("A command line runs in the shell that the call names, and rules treat it as unparsed [B-245] [B-250]", async () => {
    const { run } = createTestWorkspace();
    const shells = editorWith(known("/bin/sh", strangeShell()));
    const { text } = await run("run_command", { command: "ls", shell: "zsh" }, shells);
    expect(text).toContain("zsh runs ls");
    expect(readCommandFacts({ command: "ls", shell: "zsh" })?.commandUnparsed).toBeDefined();
    await expect(run("run_command", { command: "ls", shell: "nu" }, shells)).rejects.toThrow(
      'Shell "nu" does not exist: expected "sh" or "zsh"',
    );
  });

  it("A program with arguments runs without a shell [B-251]", async () => {
    const { run } = createTestWorkspace();
    expect((await run("run_command", { argv: ["echo", "$0"] })).text).toContain("stdout:\n$0");
    await expect(run("run_command", { argv: ["ls"], shell: "sh" })).rejects.toThrow(
      "without a shell",
    );
  });

  it("Every default shell is one that rules can parse", () => {
    for (const shell of POSIX_SHELLS) {
      expect(readCommandFacts({ command: "ls -l", shell })?.commandUnparsed).toBeUndefined();
    }
  });
});
