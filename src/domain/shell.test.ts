import { describe, expect, it } from "vitest";
import { shellAt } from "./shell-at.ts";
import { chosenShell, withDefaultShell, type KnownShells } from "./shell.ts";

const place = { platform: "linux", source: "etc_shells", isAvailable: true } as const;
const bash = shellAt({ ...place, path: "/bin/bash" });
const zsh = shellAt({ ...place, path: "/bin/zsh" });
const gone = shellAt({ ...place, path: "/opt/fish", isAvailable: false });
const known: KnownShells = { shells: [bash, zsh, gone], defaultId: "bash" };

describe("the choice of a shell", () => {
  it("is the default where nothing is said [B-250]", () => {
    expect(chosenShell(known, {})).toBe(bash);
    expect(chosenShell({ shells: [gone], defaultId: null }, {})).toBeUndefined();
  });

  it("is by id, among those that can be used [B-246] [B-250]", () => {
    expect(chosenShell(known, { shellId: "zsh" })).toBe(zsh);
    expect(chosenShell(known, { shellId: "fish" })).toBeUndefined();
    expect(chosenShell(known, { shellId: "ksh" })).toBeUndefined();
  });

  it("is the shell that is given, whatever else is said [B-247] [B-250]", () => {
    const own = shellAt({ ...place, path: "/home/me/bin/zsh" });
    expect(chosenShell(known, { shell: own, shellId: "bash" })).toBe(own);
  });

  it("of a default is one session's alone [B-243]", () => {
    const chosen = withDefaultShell(known, "zsh");
    expect(chosen && chosenShell(chosen, {})).toBe(zsh);
    expect(chosenShell(known, {})).toBe(bash);
    expect(withDefaultShell(known, "fish")).toBeUndefined();
  });
});
