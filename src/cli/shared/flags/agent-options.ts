import type { Command } from "commander";
import { parsePositive } from "./number-option.ts";

/** Adds the options for finding an agent and authenticating to it, shared by all commands which invoke agents. */
export function addConnectionOptions(command: Command): Command {
  return command
    .optionsGroup("Connection:")
    .option(
      "--region <name>",
      "region for lookups by name (default: AWS_REGION, then the profile's region)",
    )
    .option(
      "--store <file>",
      "file with tags (default: harness-handles.json in the data directory)",
    )
    .option("--endpoint-url <url>", "URL to use instead of AWS, for example an emulator")
    .option("--profile <name>", "AWS profile to use");
}

/** Adds the timeouts of one invocation, in seconds. */
export function addLimitOptions(command: Command, heading: string): Command {
  return command
    .optionsGroup(heading)
    .option("--connect-timeout <seconds>", "limit for connecting (default: 10)", parsePositive)
    .option(
      "--first-event-timeout <seconds>",
      "limit for the first event (default: 300)",
      parsePositive,
    )
    .option("--idle-timeout <seconds>", "limit between two events (default: 300)", parsePositive)
    .option("--timeout <seconds>", "limit for the whole invocation (default: 3660)", parsePositive);
}
