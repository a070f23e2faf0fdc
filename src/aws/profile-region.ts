import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../platform/environment.ts";
import { resolveHomeDirectory } from "../platform/files/home-directory.ts";

/** The region that the shared AWS files give a profile; undefined when they give none. */
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
    // A line that is set in belongs to a setting with parts of its own.
    const [, region] = /^region\s*=\s*(\S+)/.exec(line) ?? [];
    if (isProfileSection && region !== undefined) return region;
  }
  return undefined;
}
