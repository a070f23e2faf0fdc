import { describe, expect, it } from "vitest";
import type { Environment } from "../../platform/environment.ts";
import { findShells } from "./find-shells.ts";
import type { MachineInfo } from "./machine-info.ts";

interface Machine {
  readonly platform: string;
  readonly environment?: Environment;
  readonly loginShell?: string;
  readonly etcShells?: string;
  readonly programs: readonly string[];
}

/** A machine with exactly these files. */
function lookAt(machine: Machine): MachineInfo {
  const { platform, environment = {}, loginShell, etcShells, programs } = machine;
  return {
    platform,
    environment,
    loginShell,
    isProgram: async (path) => programs.includes(path),
    readText: async (path) => (path === "/etc/shells" ? etcShells : undefined),
  };
}

/** Formats each shell as a line: id, path, source, and `gone` if missing; the default is marked with `*`. */
async function found(machine: Machine): Promise<readonly string[]> {
  const { shells, defaultId } = await findShells(lookAt(machine));
  return shells.map(({ id, path, source, isAvailable }) => {
    const mark = id === defaultId ? "* " : "";
    return `${mark}${id} ${path} ${source}${isAvailable ? "" : " gone"}`;
  });
}

const linux: Machine = {
  platform: "linux",
  environment: { SPANLINE_SHELL: "/opt/fish", SHELL: "/bin/zsh" },
  loginShell: "/bin/bash",
  etcShells: "# /etc/shells: valid login shells\n/bin/sh\n/usr/bin/sh # again\n\n/bin/dash\r\n",
  programs: ["/opt/fish", "/bin/zsh", "/bin/bash", "/bin/sh", "/usr/bin/sh", "/bin/dash"],
};
const SYSTEM32 = "C:\\Windows\\System32";
const windows: Machine = {
  platform: "win32",
  environment: {
    ComSpec: `${SYSTEM32}\\cmd.exe`,
    Path: `C:\\Program Files\\PowerShell\\7;relative;${SYSTEM32}\\WindowsPowerShell\\v1.0;${SYSTEM32}`,
    SHELL: "/usr/bin/bash",
  },
  loginShell: "/bin/bash",
  etcShells: "/bin/sh",
  programs: [
    `${SYSTEM32}\\cmd.exe`,
    `${SYSTEM32}\\WindowsPowerShell\\v1.0\\powershell.exe`,
    "C:\\Program Files\\PowerShell\\7\\pwsh.exe",
    "/usr/bin/bash",
    "/bin/sh",
  ],
};

describe("Shell discovery", () => {
  it("Linux shells are listed by priority, each id once [B-238] [B-239]", async () => {
    expect(await found(linux)).toEqual([
      "* fish /opt/fish configured",
      "zsh /bin/zsh env",
      "bash /bin/bash login",
      "sh /bin/sh etc_shells",
      "dash /bin/dash etc_shells",
    ]);
  });

  it.each<[string, Partial<Machine>, string]>([
    ["the configured one", {}, "* fish /opt/fish configured"],
    ["SHELL", { environment: { SHELL: "/bin/zsh" } }, "* zsh /bin/zsh env"],
    ["the login shell", { environment: {} }, "* bash /bin/bash login"],
    [
      "the first of /etc/shells",
      { environment: {}, loginShell: "/usr/sbin/nologin" },
      "* sh /bin/sh etc_shells",
    ],
    [
      "the first in a usual place",
      { environment: {}, loginShell: "", etcShells: "" },
      "* zsh /bin/zsh fallback",
    ],
    [
      "sh, if no other shell exists",
      { environment: {}, loginShell: "/bin/false", etcShells: "", programs: ["/usr/bin/sh"] },
      "* sh /usr/bin/sh fallback",
    ],
  ])("The default shell is %s [B-243]", async (_, change, first) => {
    expect((await found({ ...linux, ...change }))[0]).toBe(first);
  });

  it("macOS shells are found with and without /etc/shells [B-238] [B-240]", async () => {
    const mac: Machine = {
      platform: "darwin",
      environment: { SHELL: "/bin/zsh" },
      loginShell: "/opt/homebrew/bin/fish",
      programs: ["/bin/zsh", "/bin/bash", "/bin/sh", "/opt/homebrew/bin/fish", "/bin/tcsh"],
    };
    expect(await found(mac)).toEqual([
      "* zsh /bin/zsh env",
      "fish /opt/homebrew/bin/fish login",
      "bash /bin/bash fallback",
      "sh /bin/sh fallback",
    ]);
    const etcShells = "/bin/bash\n/bin/csh\n/bin/sh\n/bin/tcsh\n/bin/zsh\n";
    expect(await found({ ...mac, etcShells })).toEqual([
      "* zsh /bin/zsh env",
      "fish /opt/homebrew/bin/fish login",
      "bash /bin/bash etc_shells",
      "sh /bin/sh etc_shells",
      "tcsh /bin/tcsh etc_shells",
    ]);
    const { shells } = await findShells(lookAt(mac));
    expect(shells[0]).toEqual({
      id: "zsh",
      label: "zsh",
      path: "/bin/zsh",
      platform: "darwin",
      isAvailable: true,
      supportsLogin: true,
      supportsInteractive: true,
      defaultArgs: ["-c"],
      loginArgs: ["-l", "-c"],
      source: "env",
    });
  });

  it("Windows shells are pwsh, powershell and cmd (from COMSPEC) [B-241]", async () => {
    expect(await found(windows)).toEqual([
      `* cmd ${SYSTEM32}\\cmd.exe env`,
      "pwsh C:\\Program Files\\PowerShell\\7\\pwsh.exe fallback",
      `powershell ${SYSTEM32}\\WindowsPowerShell\\v1.0\\powershell.exe fallback`,
    ]);
    expect(await found({ ...windows, environment: { PATH: SYSTEM32 } })).toEqual([
      `* cmd ${SYSTEM32}\\cmd.exe fallback`,
    ]);
  });

  it("Each Windows shell gets its own arguments [B-241] [B-242]", async () => {
    const { shells } = await findShells(lookAt(windows));
    const powerShell = ["-NoProfile", "-Command"];
    expect(
      shells.map(({ label, platform, defaultArgs, loginArgs }) => ({
        label,
        platform,
        defaultArgs,
        loginArgs,
      })),
    ).toEqual([
      { label: "Command Prompt", platform: "windows", defaultArgs: ["/C"], loginArgs: ["/C"] },
      {
        label: "PowerShell",
        platform: "windows",
        defaultArgs: powerShell,
        loginArgs: powerShell,
      },
      {
        label: "Windows PowerShell",
        platform: "windows",
        defaultArgs: powerShell,
        loginArgs: powerShell,
      },
    ]);
  });

  it("A shell may be configured by a name found in PATH", async () => {
    const environment = { ...windows.environment, spanline_shell: "pwsh" };
    expect((await found({ ...windows, environment }))[0]).toBe(
      "* pwsh C:\\Program Files\\PowerShell\\7\\pwsh.exe configured",
    );
    const named = { SPANLINE_SHELL: " dash ", PATH: "/usr/bin:/bin" };
    expect((await found({ ...linux, environment: named }))[0]).toBe("* dash /bin/dash configured");
  });

  it("Shells are never searched in the current directory", async () => {
    const programs = ["dash", "./dash", "bin/dash", "/bin/sh"];
    for (const SPANLINE_SHELL of ["./dash", "bin/dash", "dash"]) {
      const environment = { SPANLINE_SHELL, PATH: ".:bin:" };
      expect(await found({ platform: "linux", environment, programs })).toEqual([
        `dash ${SPANLINE_SHELL} configured gone`,
        "* sh /bin/sh fallback",
      ]);
    }
  });

  it("Chosen shells that are missing are listed, and never the default", async () => {
    const environment = { SPANLINE_SHELL: "/opt/fish", SHELL: "/bin/bash" };
    const programs = ["/bin/bash"];
    const etcShells = "/bin/dash\n/bin/bash\n";
    const loginShell = "/usr/local/bin/nu";
    expect(
      await found({ platform: "linux", environment, loginShell, etcShells, programs }),
    ).toEqual([
      "fish /opt/fish configured gone",
      "* bash /bin/bash env",
      "nu /usr/local/bin/nu login gone",
    ]);
  });

  it("A missing shell is replaced by another shell with the same id", async () => {
    const environment = { SHELL: "/opt/homebrew/bin/zsh" };
    const programs = ["/bin/bash", "/bin/zsh"];
    expect(
      await found({ platform: "darwin", environment, loginShell: "/bin/bash", programs }),
    ).toEqual(["* bash /bin/bash login", "zsh /bin/zsh fallback"]);
  });

  it("Programs such as nologin or tmux are not shells", async () => {
    const etcShells =
      "/usr/sbin/nologin\n/usr/bin/tmux\n/usr/bin/screen\n/bin/false\nsh\n/bin/sh\n";
    const programs = [...etcShells.trim().split("\n"), "/bin/true"];
    const environment = { SHELL: "/bin/false" };
    expect(
      await found({ platform: "linux", environment, loginShell: "/bin/true", etcShells, programs }),
    ).toEqual(["* sh /bin/sh etc_shells"]);
  });

  it("A machine without shells has an empty list", async () => {
    expect(await findShells(lookAt({ platform: "linux", programs: [] }))).toEqual({
      shells: [],
      defaultId: null,
    });
  });

  it("At most 64 shells are listed", async () => {
    const programs = Array.from({ length: 1000 }, (_, index) => `/bin/shell${index}`);
    const environment = { SHELL: `/${"x".repeat(5000)}` };
    const etcShells = programs.join("\n");
    const { shells } = await findShells(
      lookAt({ platform: "linux", environment, etcShells, programs }),
    );
    expect(shells).toHaveLength(64);
    expect(shells[0]?.path).toBe("/bin/shell0");
  });
});
