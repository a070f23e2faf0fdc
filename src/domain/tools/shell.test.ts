import { describe, expect, it } from "vitest";
import { createShell } from "./create-shell.ts";
import { chooseShell, setDefaultShell, type ShellList } from "./shell.ts";

const place = { platform: "linux", source: "etc_shells", isAvailable: true } as const;
const bash = createShell({ ...place, path: "/bin/bash" });
const zsh = createShell({ ...place, path: "/bin/zsh" });
const gone = createShell({ ...place, path: "/opt/fish", isAvailable: false });
const known: ShellList = { shells: [bash, zsh, gone], defaultId: "bash" };

describe("the choice of a shell", () => {
  it("is the default where nothing is said [B-250]", () => {
    expect(chooseShell(known, {})).toBe(bash);
    expect(chooseShell({ shells: [gone], defaultId: null }, {})).toBeUndefined();
  });

  it("is by id, among those that can be used [B-246] [B-250]", () => {
    expect(chooseShell(known, { shellId: "zsh" })).toBe(zsh);
    expect(chooseShell(known, { shellId: "fish" })).toBeUndefined();
    expect(chooseShell(known, { shellId: "ksh" })).toBeUndefined();
  });

  it("is the shell that is given, whatever else is said [B-247] [B-250]", () => {
    const own = createShell({ ...place, path: "/home/me/bin/zsh" });
    expect(chooseShell(known, { shell: own, shellId: "bash" })).toBe(own);
  });

  it("of a default is one session's alone [B-243]", () => {
    const chosen = setDefaultShell(known, "zsh");
    expect(chosen && chooseShell(chosen, {})).toBe(zsh);
    expect(chooseShell(known, {})).toBe(bash);
    expect(setDefaultShell(known, "fish")).toBeUndefined();
  });
});
