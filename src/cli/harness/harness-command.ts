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

/** `spanline harness`. */
export function addHarnessCommand(spanline: Command, execute: ExecuteCommand): void {
  const harness = spanline
    .command("harness")
    .description("make, look at, change and delete harnesses on AgentCore")
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
    .description("create a harness, and wait until it and its endpoint can be used")
    .option("-n, --name <name>", "what to call it: a letter, then letters, digits and _")
    .option("--endpoint <name>", "the endpoint to wait for, made if there is none (DEFAULT)");
  addSettingsOptions(create)
    .option("--no-wait", "return as soon as the service has begun")
    .optionsGroup("Named by content:")
    .addOption(
      new Option(
        "--content-name",
        "call it NAME_DIGEST: the same spec is the same harness, and is created once",
      ).conflicts("wait"),
    )
    .addOption(
      new Option(
        "--tag <tag>",
        "let NAME:TAG stand for it from now on; implies --content-name",
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
    .option("--redact", "hide account numbers, for showing it to others")
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
    .option("--prefix <text>", "only those whose names start so")
    .option("--redact", "hide account numbers, for showing it to others");
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
    .description("change a harness, which makes a new version, and wait until it is served")
    .argument("<harness>", REFERENCE_DESCRIPTION);
  addSettingsOptions(update)
    .option("--no-wait", "return as soon as the service has begun")
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
    .description("delete a harness, and wait until it is gone")
    .argument("<harness>", REFERENCE_DESCRIPTION)
    .option("-y, --yes", "do not ask")
    .option("--keep-memory", "leave the memory that the service made for it")
    .option("--no-wait", "return as soon as the service has begun")
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
    .description("wait until a harness and its endpoint are ready, or until it is gone")
    .argument("<harness>", REFERENCE_DESCRIPTION)
    .option("--endpoint <name>", "the endpoint to wait for (DEFAULT)")
    .addOption(new Option("--gone", "wait until it is deleted").conflicts("endpoint"))
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
    .description("delete all but the newest and the tagged of the harnesses named by content")
    .argument("<base>", "the --name that they were created with")
    .requiredOption("--keep <number>", "how many of the newest stay", parsePositive)
    .option("-y, --yes", "do not ask")
    .option("--dry-run", "only say what would be deleted")
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
    .optionsGroup("What it is:")
    .option("--spec <file>", "all of its settings, in YAML or JSON; flags come before it")
    .option("--role <arn>", "the role that the agent acts under")
    .option("--model <id>", "the model, by its id on Bedrock")
    .option("--system-prompt <text>", "the system prompt")
    .option("--tools <file>", "its tools, a list in YAML or JSON")
    .option("--max-iterations <number>", "the most model calls of one invocation", parsePositive)
    .option("--max-tokens <number>", "the most tokens of output", parsePositive)
    .option("--timeout-seconds <number>", "how long an invocation may take", parsePositive)
    .optionsGroup("Options:");
}

function addPlaneOptions(command: Command): Command {
  return command
    .optionsGroup("Where and as whom:")
    .option("--region <name>", "the region; else that of the ARN, AWS_REGION or the profile")
    .option("--endpoint-url <url>", "an address in place of AWS, such as an emulator's")
    .option("--profile <name>", "a profile of the AWS files")
    .optionsGroup("Options:")
    .option("--timeout <seconds>", "for all of it together", parsePositive)
    .option("--json", "write JSON");
}

const REFERENCE_DESCRIPTION = "its ARN, its id, its name or NAME:TAG";
const STORE_DESCRIPTION = "where tags and harnesses by content are remembered";

const EXAMPLES = `
Examples:
  spanline harness create --name support --role arn:aws:iam::123456789012:role/agent --system-prompt "Be brief."
  spanline harness list
  spanline harness get support
  spanline harness delete support

A result goes to stdout, everything else to stderr. What reads or deletes is tried again when the service is busy; what
creates or changes is asked for once. AWS_ENDPOINT_URL_BEDROCK_AGENTCORE_CONTROL and AWS_ENDPOINT_URL are used where
--endpoint-url is not given.
Exit codes: 0 done, 1 it failed, 2 the command line or a file cannot be used, 130 stopped by Ctrl-C.`;

const CREATE_EXAMPLES = `
Examples:
  spanline harness create --spec support.yaml
  spanline harness create --spec support.yaml --content-name --tag live
  spanline harness create --endpoint-url http://127.0.0.1:4780 --name demo2 --role arn:aws:iam::123456789012:role/x

A file has the members of CreateHarness, with name and roleArn in short:
  name: support
  roleArn: arn:aws:iam::123456789012:role/agent
  systemPrompt: Be brief.
  tools:
    - name: refund
      description: Pays money back for an order
      schema: { type: object, properties: { order: { type: string } }, required: [order] }

A harness of the same name that is there already is used, and what differs is said. When it does not become ready, or
at Ctrl-C, what was created is deleted again. All of it takes no longer than --timeout, 600 seconds if it is not given.`;

const UPDATE_NOTES = `
What is not said stays as it is, and so do name and tags; a list replaces the list that was there. In a file, null takes away memory,
environmentArtifact or authorizerConfiguration.
  spanline harness update support --system-prompt "Be kind."`;

const PRUNE_NOTES = `
Only names made of exactly this base and eight hex digits count. Tags are those of the file of --store.
  spanline harness prune support --keep 3 --dry-run`;
