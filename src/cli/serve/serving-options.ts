import type { Command } from "commander";
import { CONFIG_DESCRIPTION } from "../shared/flags/config-description.ts";
import { parsePort, parsePositive } from "../shared/flags/number-option.ts";
import { updatesOption } from "../shared/flags/updates-option.ts";

/** What the commands have that serve over HTTP. */
export function addServingOptions(command: Command): Command {
  return command
    .option("-p, --port <number>", "where to listen, 4777; 0 for any port that is free", parsePort)
    .option("--host <address>", "on which address, 127.0.0.1; any other needs keys")
    .option("-c, --config <file>", CONFIG_DESCRIPTION)
    .option("-d, --data-dir <folder>", "where sessions are kept")
    .addOption(updatesOption())
    .option(
      "--access-log [file]",
      "a line of JSON for each request, at the end of a file; on standard error without one",
    )
    .option(
      "--keep-days <number>",
      "delete sessions that nobody used for so many days",
      parsePositive,
    )
    .option(
      "--keep-mb <number>",
      "delete the oldest sessions until so many megabytes are left",
      parsePositive,
    );
}
