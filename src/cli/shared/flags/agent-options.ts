import type { Command } from "commander";
import { parsePositive } from "./number-option.ts";

/** Where an agent is and as whom it is called: the same for every command that calls one. */
export function addConnectionOptions(command: Command): Command {
  return command
    .optionsGroup("Where and as whom:")
    .option("--region <name>", "where to look for a name; else AWS_REGION or the profile's")
    .option("--store <file>", "where tags are remembered")
    .option("--endpoint-url <url>", "an address in place of AWS, such as an emulator's")
    .option("--profile <name>", "a profile of the AWS files");
}

/** How long one call is waited for. */
export function addLimitOptions(command: Command, heading: string): Command {
  return command
    .optionsGroup(heading)
    .option("--connect-timeout <seconds>", "for a connection (10)", parsePositive)
    .option("--first-event-timeout <seconds>", "for the first event (300)", parsePositive)
    .option("--idle-timeout <seconds>", "between two signs of life (300)", parsePositive)
    .option("--timeout <seconds>", "for all of it (3660)", parsePositive);
}
