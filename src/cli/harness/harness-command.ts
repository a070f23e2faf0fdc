import { Option, type Command } from "commander";
import type {
  CreateFlags,
  DeleteFlags,
  GetFlags,
  ListFlags,
  PruneFlags,
  SettingsFlags,
  WaitFlags,
} from "./run-harness-commands.ts";
import { parsePositive } from "../shared/flags/number-option.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** Declares `spanline harness`. The command loads the rest of its code only when run, so printing the help stays fast. */
export function addHarnessCommand(spanline: Command, execute: ExecuteCommand): void {
  const harness = spanline
    .command("harness")
    .description("create, show, change and delete harnesses on AgentCore")
    .addHelpText("after", EXAMPLES);
  addCreate(harness, execute);
  addGet(harness, execute);
  addList(harness, execute);
  addUpdate(harness, execute);
  addDelete(harness, execute);
  addWait(harness, execute);
  addPrune(harness, execute);
}

function addCreate(harness: Command, execute: ExecuteCommand): void {
  const create = harness
    .command("create")
    .description("create a harness and wait until its endpoint is ready")
    .option("-n, --name <name>", "name of the harness: a letter, then letters, digits and _")
    .option("--endpoint <name>", "endpoint to wait for, created if missing (default: DEFAULT)");
  addSettingsOptions(create)
    .option("--no-wait", "return without waiting for completion")
    .optionsGroup("Content-based name:")
    .addOption(
      new Option(
        "--content-name",
        "name the harness NAME_DIGEST; the same spec is created only once",
      ).conflicts("wait"),
    )
    .addOption(
      new Option(
        "--tag <tag>",
        "make NAME:TAG refer to this harness; implies --content-name",
      ).conflicts("wait"),
    )
    .option("--store <file>", STORE_DESCRIPTION);
  addPlaneOptions(create)
    .addHelpText("after", CREATE_EXAMPLES)
    .action((flags: CreateFlags) =>
      execute(async (io) => {
        const { runHarnessCreate } = await import("./run-harness-commands.ts");
        return runHarnessCreate(flags, io);
      }),
    );
}

function addGet(harness: Command, execute: ExecuteCommand): void {
  const get = harness
    .command("get")
    .description("show a harness and its endpoints")
    .argument("<harness>", REFERENCE_DESCRIPTION)
    .option("--redact", "hide account numbers")
    .option("--store <file>", STORE_DESCRIPTION);
  addPlaneOptions(get).action((reference: string, flags: GetFlags) =>
    execute(async (io) => {
      const { runHarnessGet } = await import("./run-harness-commands.ts");
      return runHarnessGet(reference, flags, io);
    }),
  );
}

function addList(harness: Command, execute: ExecuteCommand): void {
  const list = harness
    .command("list")
    .description("list all harnesses of a region")
    .option("--prefix <text>", "only harnesses whose name starts with this text")
    .option("--redact", "hide account numbers");
  addPlaneOptions(list).action((flags: ListFlags) =>
    execute(async (io) => {
      const { runHarnessList } = await import("./run-harness-commands.ts");
      return runHarnessList(flags, io);
    }),
  );
}

function addUpdate(harness: Command, execute: ExecuteCommand): void {
  const update = harness
    .command("update")
    .description("change a harness (creates a new version) and wait until the version is served")
    .argument("<harness>", REFERENCE_DESCRIPTION);
  addSettingsOptions(update)
    .option("--no-wait", "return without waiting for completion")
    .option("--store <file>", STORE_DESCRIPTION);
  addPlaneOptions(update)
    .addHelpText("after", UPDATE_NOTES)
    .action((reference: string, flags: SettingsFlags) =>
      execute(async (io) => {
        const { runHarnessUpdate } = await import("./run-harness-commands.ts");
        return runHarnessUpdate(reference, flags, io);
      }),
    );
}

function addDelete(harness: Command, execute: ExecuteCommand): void {
  const remove = harness
    .command("delete")
    .description("delete a harness and wait until the deletion is complete")
    .argument("<harness>", REFERENCE_DESCRIPTION)
    .option("-y, --yes", "delete without confirmation")
    .option("--keep-memory", "keep the memory that the service created for the harness")
    .option("--no-wait", "return without waiting for completion")
    .option("--store <file>", STORE_DESCRIPTION);
  addPlaneOptions(remove).action((reference: string, flags: DeleteFlags) =>
    execute(async (io) => {
      const { runHarnessDelete } = await import("./run-harness-commands.ts");
      return runHarnessDelete(reference, flags, io);
    }),
  );
}

function addWait(harness: Command, execute: ExecuteCommand): void {
  const wait = harness
    .command("wait")
    .description("wait until a harness and its endpoint are ready, or until the harness is deleted")
    .argument("<harness>", REFERENCE_DESCRIPTION)
    .option("--endpoint <name>", "endpoint to wait for (default: DEFAULT)")
    .addOption(new Option("--gone", "wait until the harness is deleted").conflicts("endpoint"))
    .option("--store <file>", STORE_DESCRIPTION);
  addPlaneOptions(wait).action((reference: string, flags: WaitFlags) =>
    execute(async (io) => {
      const { runHarnessWait } = await import("./run-harness-commands.ts");
      return runHarnessWait(reference, flags, io);
    }),
  );
}

function addPrune(harness: Command, execute: ExecuteCommand): void {
  const prune = harness
    .command("prune")
    .description("delete content-named harnesses except the newest and the tagged ones")
    .argument("<base>", "value of --name at their creation")
    .requiredOption("--keep <number>", "number of newest harnesses to keep", parsePositive)
    .option("-y, --yes", "delete without confirmation")
    .option("--dry-run", "print the plan without deleting")
    .option("--store <file>", STORE_DESCRIPTION);
  addPlaneOptions(prune)
    .addHelpText("after", PRUNE_NOTES)
    .action((base: string, flags: PruneFlags) =>
      execute(async (io) => {
        const { runHarnessPrune } = await import("./run-harness-commands.ts");
        return runHarnessPrune(base, flags, io);
      }),
    );
}

function addSettingsOptions(command: Command): Command {
  return command
    .optionsGroup("Settings:")
    .option("--spec <file>", "YAML or JSON file with all settings; flags override it")
    .option("--role <arn>", "ARN of the execution role")
    .option("--model <id>", "Bedrock model id")
    .option("--system-prompt <text>", "system prompt")
    .option("--tools <file>", "YAML or JSON file with a list of tools")
    .option("--max-iterations <number>", "limit for model calls per invocation", parsePositive)
    .option("--max-tokens <number>", "limit for output tokens", parsePositive)
    .option("--timeout-seconds <number>", "limit for one invocation, in seconds", parsePositive)
    .optionsGroup("Options:");
}

function addPlaneOptions(command: Command): Command {
  return command
    .optionsGroup("Connection:")
    .option("--region <name>", "AWS region (default: from the ARN, AWS_REGION or the profile)")
    .option("--endpoint-url <url>", "URL to use instead of AWS, for example an emulator")
    .option("--profile <name>", "AWS profile to use")
    .optionsGroup("Options:")
    .option("--timeout <seconds>", "limit for the whole command", parsePositive)
    .option("--json", "print JSON");
}

const REFERENCE_DESCRIPTION = "ARN, id, name or NAME:TAG";
const STORE_DESCRIPTION =
  "file with tags and content-named harnesses (default: harness-handles.json in the data directory)";

const EXAMPLES = `
Examples:
  spanline harness create --name support --role arn:aws:iam::123456789012:role/agent --system-prompt "Be brief."
  spanline harness list
  spanline harness get support
  spanline harness delete support

Results go to stdout, everything else to stderr. Reads and deletions are retried when the service is busy; creations and
changes are sent once. Without --endpoint-url, AWS_ENDPOINT_URL_BEDROCK_AGENTCORE_CONTROL and AWS_ENDPOINT_URL are used.
Exit codes: 0 success, 1 failure, 2 invalid command line or file, 130 interrupted.`;

const CREATE_EXAMPLES = `
Examples:
  spanline harness create --spec support.yaml
  spanline harness create --spec support.yaml --content-name --tag live
  spanline harness create --endpoint-url http://127.0.0.1:4780 --name demo2 --role arn:aws:iam::123456789012:role/x

A spec file has the members of CreateHarness, with the short forms name and roleArn:
  name: support
  roleArn: arn:aws:iam::123456789012:role/agent
  systemPrompt: Be brief.
  tools:
    - name: refund
      description: Refunds an order
      schema: { type: object, properties: { order: { type: string } }, required: [order] }

An existing harness of the same name is used, and differences from the spec are printed. If the new harness does not
become ready, or at Ctrl-C, it is deleted again. --timeout limits the whole command (default: 600 seconds).`;

const UPDATE_NOTES = `
Settings that are not given stay unchanged, and so do name and tags; a list replaces the old list. In a spec file, null
removes memory, environmentArtifact or authorizerConfiguration.

Example:
  spanline harness update support --system-prompt "Be kind."`;

const PRUNE_NOTES = `
Only names of this base followed by eight hex digits are considered. Tags are read from the --store file.

Example:
  spanline harness prune support --keep 3 --dry-run`;
