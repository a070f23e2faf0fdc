import { existsSync } from "node:fs";
import { trustConfig, readConfigVersion } from "../../config/trust/trusted-configs.ts";
import { formatThrown } from "../../domain/errors.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import { resolveUserDirectory } from "../../platform/files/state-directory.ts";
import { createTerminal } from "../../platform/terminal/terminal.ts";
import { resolveConfigFile } from "../shared/flags/config-flags.ts";
import { describeReadError } from "../shared/read-error.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export async function runTrustCommand(config: string | undefined, io: CommandIo): Promise<number> {
  const terminal = createTerminal(io);
  const file = resolveConfigFile(config === undefined ? {} : { config }, io);
  try {
    if (file === undefined) {
      terminal.note("No spanline.config.yaml, .yml or .json was found from here upwards.\n");
      return 2;
    }
    const version = await readConfigVersion(file);
    const { files, commands } = version;
    const missing = files.find((path) => !existsSync(path));
    if (missing !== undefined) {
      terminal.note(
        `${toSingleLine(missing)} does not exist. Fix: create the file, or remove it from ${toSingleLine(file)}.\n`,
      );
      return 2;
    }
    const lines = [...commands, ...files].map((line) => `  ${toSingleLine(line)}\n`).join("");
    await terminal.write(
      lines === ""
        ? "The configuration runs no code before a tool call.\n"
        : `The configuration runs:\n${lines}`,
    );
    await trustConfig(version, resolveUserDirectory(io.env));
    const changed = files.length === 0 ? "the configuration" : "the configuration or a listed file";
    await terminal.write(
      `${toSingleLine(file)} is trusted. The trust ends when ${changed} changes.\n`,
    );
    return 0;
  } catch (error) {
    const why = describeReadError(error, file ?? "") ?? formatThrown(error);
    terminal.note(`${toSingleLine(why)}\n`);
    return 2;
  }
}
