import { describe, expect, it } from "vitest";
import { createShell } from "./create-shell.ts";

const place = { platform: "linux", source: "env", isAvailable: true } as const;

describe("createShell", () => {
  it("A shell at a path has all fields [B-240]", () => {
    expect(createShell({ ...place, path: "/bin/zsh", platform: "darwin" })).toEqual({
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

  it.each([
    ["/bin/sh", "sh"],
    ["/run/current-system/sw/bin/fish", "fish"],
    ["C:\\Windows\\System32\\cmd.exe", "cmd"],
    ["C:/Program Files/PowerShell/7/PWSH.EXE", "pwsh"],
    ["\\\\server\\share\\bash.exe", "bash"],
    ["zsh", "zsh"],
    ["/bin/", ""],
  ])("The shell at %s has the id %s", (path, id) => {
    expect(createShell({ ...place, path }).id).toBe(id);
  });

  it.each([
    ["cmd.exe", ["/C"]],
    ["pwsh.exe", ["-NoProfile", "-Command"]],
    ["powershell.exe", ["-NoProfile", "-Command"]],
  ])("The shell at %s is called with %j, as a login shell too [B-242]", (path, args) => {
    expect(createShell({ ...place, path })).toMatchObject({
      supportsLogin: false,
      supportsInteractive: false,
      defaultArgs: args,
      loginArgs: args,
    });
  });

  it.each(["csh", "tcsh"])(
    "%s accepts -l only as its single argument, so it has no login arguments",
    (name) => {
      expect(createShell({ ...place, path: `/bin/${name}` })).toMatchObject({
        supportsLogin: false,
        loginArgs: ["-c"],
      });
    },
  );
});
