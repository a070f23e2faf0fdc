import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../platform/environment.ts";
import { resolveHomeDirectory } from "../platform/files/state-directory.ts";

/** The region of a profile in the shared AWS files. Undefined if the profile has no region. */
export async function readProfileRegion(
  env: Environment,
  profile: string | undefined,
): Promise<string | undefined> {
  const path = env["AWS_CONFIG_FILE"] ?? join(resolveHomeDirectory(env), ".aws", "config");
  const text = await readFile(path, "utf8").catch(() => "");
  const name = profile ?? env["AWS_PROFILE"] ?? "default";
  return parseProfileRegion(
    text,
    name === "default" ? ["default", "profile default"] : [`profile ${name}`],
  );
}

function parseProfileRegion(text: string, sections: readonly string[]): string | undefined {
  let isProfileSection = false;
  for (const line of text.split(/\r?\n/)) {
    const [, section] = /^\s*\[([^\]]+)\]/.exec(line) ?? [];
    if (section !== undefined)
      isProfileSection = sections.includes(section.trim().replaceAll(/\s+/g, " "));
    // An indented line belongs to a nested setting, so only unindented lines match.
    const [, region] = /^region\s*=\s*(\S+)/.exec(line) ?? [];
    if (isProfileSection && region !== undefined) return region;
  }
  return undefined;
}
