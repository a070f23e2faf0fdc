import { describe, expect, it } from "vitest";
import { createShell } from "./create-shell.ts";
import { chooseShell, setDefaultShell, type ShellList } from "./shell.ts";

const place = { platform: "linux", source: "etc_shells", isAvailable: true } as const;
const bash = createShell({ ...place, path: "/bin/bash" });
const zsh = createShell({ ...place, path: "/bin/zsh" });
const gone = createShell({ ...place, path: "/opt/fish", isAvailable: false });
const known: ShellList = { shells: [bash, zsh, gone], defaultId: "bash" };

describe("chooseShell", () => {
  it("The default shell is chosen if no shell is requested [B-250]", () => {
    expect(chooseShell(known, {})).toBe(bash);
    expect(chooseShell({ shells: [gone], defaultId: null }, {})).toBeUndefined();
  });

  it("A shell is chosen by id among the available ones [B-246] [B-250]", () => {
    expect(chooseShell(known, { shellId: "zsh" })).toBe(zsh);
    expect(chooseShell(known, { shellId: "fish" })).toBeUndefined();
    expect(chooseShell(known, { shellId: "ksh" })).toBeUndefined();
  });

  it("A shell passed as a value is chosen regardless of other options [B-247] [B-250]", () => {
    const own = createShell({ ...place, path: "/home/me/bin/zsh" });
    expect(chooseShell(known, { shell: own, shellId: "bash" })).toBe(own);
  });

  it("A changed default applies to one session only [B-243]", () => {
    const chosen = setDefaultShell(known, "zsh");
    expect(chosen && chooseShell(chosen, {})).toBe(zsh);
    expect(chooseShell(known, {})).toBe(bash);
    expect(setDefaultShell(known, "fish")).toBeUndefined();
  });
});
