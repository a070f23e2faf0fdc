import type { Command } from "commander";
import { CONFIG_DESCRIPTION } from "../shared/flags/config-description.ts";
import { parsePort, parsePositive } from "../shared/flags/number-option.ts";
import { createUpdatesOption } from "../shared/flags/updates-option.ts";

/** Adds the options of all commands that serve over HTTP. */
export function addServingOptions(command: Command): Command {
  return command
    .option(
      "-p, --port <number>",
      "port to listen on (default: 4777); 0 picks a free port",
      parsePort,
    )
    .option(
      "--host <address>",
      "address to listen on (default: 127.0.0.1); other addresses require keys",
    )
    .option("-c, --config <file>", CONFIG_DESCRIPTION)
    .option("-d, --data-dir <folder>", "data directory with the sessions")
    .addOption(createUpdatesOption())
    .option(
      "--access-log [file]",
      "append one JSON line per request to the file, or to standard error without a file",
    )
    .option("--keep-days <number>", "delete sessions unused for this number of days", parsePositive)
    .option(
      "--keep-mb <number>",
      "delete the oldest sessions until this number of megabytes remains",
      parsePositive,
    );
}
