import { existsSync } from "node:fs";
import { createAccountMasker } from "../../text/account-masker.ts";
import { NotFoundError } from "../../domain/provider/provider-error.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import { updateHarness, waitUntilReady } from "../../provisioning/update-harness.ts";
import type { Harness } from "../../provisioning/control-client.ts";
import { findHarnessId } from "../../provisioning/find-harness-id.ts";
import { checkTag, type HarnessCache } from "../../provisioning/harness-cache.ts";
import type { HarnessHandle } from "../../provisioning/harness-handle.ts";
import { provisionHarness } from "../../provisioning/provision-harness.ts";
import { planPrune, pruneHarnesses } from "../../provisioning/prune-harnesses.ts";
import { readChanges, readSpec, type SpecSources } from "../../provisioning/read-spec.ts";
import { waitUntilGone } from "../../provisioning/wait-until-ready.ts";
import type { Poll } from "../../provisioning/poll.ts";
import { confirm } from "../shared/terminal/confirm.ts";
import {
  withHarnessContext,
  READ_TIMEOUT_SECONDS,
  type HarnessFlags,
  type HarnessContext,
} from "./harness-context.ts";
import { openHarnessCache, resolveStorePath, type StoreFlags } from "./open-harness-cache.ts";
import {
  summarizeHarness,
  formatHandle,
  formatHarness,
  formatJson,
  formatTable,
} from "./harness-text.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface SettingsFlags extends HarnessFlags, StoreFlags {
  readonly role?: string;
  readonly model?: string;
  readonly systemPrompt?: string;
  readonly tools?: string;
  readonly spec?: string;
  readonly maxIterations?: number;
  readonly maxTokens?: number;
  readonly timeoutSeconds?: number;
  readonly wait: boolean;
}

export interface CreateFlags extends SettingsFlags {
  readonly name?: string;
  readonly endpoint?: string;
  readonly contentName?: true;
  readonly tag?: string;
}

export async function runHarnessCreate(flags: CreateFlags, io: CommandIo): Promise<number> {
  return withHarnessContext(flags, { io }, async (run) => {
    const { client, terminal } = run;
    const spec = await readSpec(readSpecSources(flags, io));
    if (!flags.wait) {
      const harness = await run.within(({ budget }) => client.createHarness(spec, budget));
      await terminal.write(
        flags.json === true ? formatJson(summarizeHarness(harness)) : formatHarness(harness, []),
      );
      return 0;
    }
    const { endpoint, tag } = flags;
    if (tag !== undefined) checkTag(tag);
    const options = { ...run, ...omitUndefined({ endpoint }) };
    const start = client.clock.now();
    if (flags.contentName === true || tag !== undefined) {
      const cache = await openCommandCache(run, flags);
      const { handle, origin } = await cache.ensure(spec, options);
      if (tag !== undefined) await cache.setTag(spec.name, tag, handle.name);
      return printOutcome(run, flags, { handle, origin, start });
    }
    const { handle, origin, differences } = await provisionHarness(spec, options);
    return printOutcome(run, flags, { handle, origin, start, differences });
  });
}

interface CreateOutcome {
  readonly handle: HarnessHandle;
  readonly origin: "created" | "adopted" | "remembered";
  readonly start: number;
  readonly differences?: readonly string[];
}

async function printOutcome(
  { client, terminal }: HarnessContext,
  { json: isJson }: HarnessFlags,
  { handle, origin, start, differences = [] }: CreateOutcome,
): Promise<number> {
  terminal.showProgress("");
  if (isJson === true) {
    await terminal.write(formatJson({ ...handle, origin, differences }));
    return 0;
  }
  await terminal.write(formatHandle(handle));
  const seconds = Math.round((client.clock.now() - start) / 1000);
  const how = {
    created: `Created in ${seconds} s.`,
    adopted: "It already exists.",
    remembered: "It already exists.",
  }[origin];
  terminal.note(`${how}\n`);
  if (differences.length > 0) {
    const list = differences.join(", ");
    terminal.note(
      `It differs from the spec in: ${list}. Fix: \`spanline harness update ${handle.name}\`.\n`,
    );
  }
  return 0;
}

export interface GetFlags extends HarnessFlags, StoreFlags {
  readonly redact?: true;
}

export async function runHarnessGet(
  reference: string,
  flags: GetFlags,
  io: CommandIo,
): Promise<number> {
  return withHarnessContext(
    flags,
    { io, reference, timeout: READ_TIMEOUT_SECONDS },
    async (run) => {
      const { client, terminal } = run;
      const { harness, endpoints } = await run.within(async (waiting) => {
        const id = await resolveHarnessId(reference, run, { flags, waiting });
        const [harness, { items }] = await Promise.all([
          client.getHarness(id, waiting.budget),
          client.listEndpoints(id, waiting.budget),
        ]);
        return { harness, endpoints: items };
      });
      const text =
        flags.json === true
          ? formatJson({ ...harness.raw, endpoints: endpoints.map(({ raw }) => raw) })
          : formatHarness(harness, endpoints);
      await terminal.write(redactText(text, flags));
      return 0;
    },
  );
}

export interface ListFlags extends GetFlags {
  readonly prefix?: string;
}

export async function runHarnessList(flags: ListFlags, io: CommandIo): Promise<number> {
  return withHarnessContext(flags, { io, timeout: READ_TIMEOUT_SECONDS }, async (run) => {
    const { client, terminal, report } = run;
    const { items, isComplete } = await run.within(({ budget }) => client.listHarnesses(budget));
    if (!isComplete) {
      report.warn("The service returned the same page token twice; the list may be incomplete.");
    }
    const { prefix = "" } = flags;
    const harnesses = items
      .filter(({ name }) => name.startsWith(prefix))
      .sort((left, right) => (left.name < right.name ? -1 : 1));
    if (flags.json === true)
      await terminal.write(redactText(formatJson(harnesses.map(summarizeHarness)), flags));
    else if (harnesses.length > 0) await terminal.write(redactText(formatTable(harnesses), flags));
    else
      terminal.note("No harnesses exist here. Fix: create one with `spanline harness create`.\n");
    return 0;
  });
}

export async function runHarnessUpdate(
  reference: string,
  flags: SettingsFlags,
  io: CommandIo,
): Promise<number> {
  return withHarnessContext(flags, { io, reference }, async (run) => {
    const changes = await readChanges(readSpecSources(flags, io));
    const harness = await run.within(async (waiting) => {
      const id = await resolveHarnessId(reference, run, { flags, waiting });
      return flags.wait
        ? updateHarness(waiting, id, changes)
        : run.client.updateHarness(id, changes, waiting.budget);
    });
    run.terminal.showProgress("");
    await run.terminal.write(
      flags.json === true ? formatJson(summarizeHarness(harness)) : formatHarness(harness, []),
    );
    return 0;
  });
}

export interface DeleteFlags extends HarnessFlags, StoreFlags {
  readonly yes?: true;
  readonly keepMemory?: true;
  readonly wait: boolean;
}

export async function runHarnessDelete(
  reference: string,
  flags: DeleteFlags,
  io: CommandIo,
): Promise<number> {
  return withHarnessContext(flags, { io, reference }, async (run) => {
    const { client, terminal } = run;
    const harness = await run.within(async (waiting) => {
      const id = await resolveHarnessId(reference, run, { flags, waiting });
      return client.getHarness(id, waiting.budget);
    });
    const { name, id, status } = harness;
    const question = `Delete harness ${name} (${id}, ${status ?? "without a status"})?`;
    const answer = await confirmOrExit(run, flags, toSingleLine(question));
    if (answer !== null) return answer;
    await run.within(async (waiting) => {
      const keepMemory = flags.keepMemory === true;
      await client.deleteHarness(id, waiting.budget, { keepMemory });
      if (flags.wait) await waitUntilGone(waiting, harness);
    });
    await removeFromCache(name, run, flags);
    terminal.showProgress("");
    const state = flags.wait ? "deleted" : "deleting";
    if (flags.json === true)
      await terminal.write(formatJson({ ...summarizeHarness(harness), state }));
    else
      terminal.note(
        `Harness ${toSingleLine(name)} is ${flags.wait ? "deleted" : "being deleted"}.\n`,
      );
    return 0;
  });
}

export interface WaitFlags extends HarnessFlags, StoreFlags {
  readonly endpoint?: string;
  readonly gone?: true;
}

export async function runHarnessWait(
  reference: string,
  flags: WaitFlags,
  io: CommandIo,
): Promise<number> {
  const findFlag = (path: string): string | undefined =>
    path === "name" ? "--endpoint" : undefined;
  return withHarnessContext(flags, { io, reference, findFlag }, async (run) => {
    const { terminal, client } = run;
    const harness = await run
      .within(async (waiting) => {
        const id = await resolveHarnessId(reference, run, { flags, waiting });
        if (flags.gone !== true) return waitUntilReady(waiting, id, flags);
        const foundHarness = await client.getHarness(id, waiting.budget);
        await waitUntilGone(waiting, foundHarness);
        return null;
      })
      .catch((error: unknown) => {
        // The harness may already be deleted when the first lookup runs.
        if (flags.gone === true && error instanceof NotFoundError) return null;
        throw error;
      });
    terminal.showProgress("");
    if (harness === null) {
      if (flags.json === true) await terminal.write(formatJson({ state: "deleted" }));
      else terminal.note(`The harness ${toSingleLine(reference)} no longer exists.\n`);
      return 0;
    }
    await terminal.write(
      flags.json === true ? formatJson(summarizeHarness(harness)) : formatHarness(harness, []),
    );
    return 0;
  });
}

export interface PruneFlags extends HarnessFlags, StoreFlags {
  readonly keep: number;
  readonly yes?: true;
  readonly dryRun?: true;
}

export async function runHarnessPrune(
  base: string,
  flags: PruneFlags,
  io: CommandIo,
): Promise<number> {
  return withHarnessContext(flags, { io }, async (run) => {
    const { terminal } = run;
    const cache = await openCommandCache(run, flags);
    const plan = await run.within((waiting) =>
      planPrune({ base, keep: flags.keep }, waiting, cache),
    );
    const { keptHarnesses, harnessesToDelete } = plan;
    const isJson = flags.json === true;
    if (!isJson) terminal.note(formatPlan(keptHarnesses, harnessesToDelete));
    if (flags.dryRun === true || harnessesToDelete.length === 0) {
      if (isJson)
        await terminal.write(
          formatJson({
            kept: listNames(keptHarnesses),
            deleted: [],
            failed: [],
            doomed: listNames(harnessesToDelete),
          }),
        );
      return 0;
    }
    const answer = await confirmOrExit(
      run,
      flags,
      `Delete ${harnessesToDelete.length} of these harnesses?`,
    );
    if (answer !== null) return answer;
    const { deleted, failed } = await run.within((waiting) => pruneHarnesses(plan, waiting, cache));
    for (const { harness, error } of failed) {
      terminal.note(toSingleLine(`${harness.name} could not be deleted: ${error.message}`) + "\n");
    }
    const failures = failed.map(({ harness: { name }, error: { message } }) => ({ name, message }));
    const pruned = {
      kept: listNames(keptHarnesses),
      deleted: listNames(deleted),
      failed: failures,
    };
    await terminal.write(
      isJson ? formatJson(pruned) : `${deleted.length} of ${harnessesToDelete.length} deleted\n`,
    );
    return failed.length === 0 ? 0 : 1;
  });
}

function formatPlan(
  keptHarnesses: readonly Harness[],
  deletedHarnesses: readonly Harness[],
): string {
  const lines = [
    ...keptHarnesses.map(({ name }) => `  keep    ${name}`),
    ...deletedHarnesses.map(({ name, createdAt }) => `  delete  ${name}  ${createdAt ?? ""}`),
  ];
  if (lines.length === 0) return "No harness has this base name.\n";
  return `${lines.map((line) => toSingleLine(line).trimEnd()).join("\n")}\n`;
}

function listNames(harnesses: readonly Harness[]): string[] {
  return harnesses.map(({ name }) => name);
}

/** Returns null after consent, otherwise the exit code. */
async function confirmOrExit(
  { io, terminal, signal }: HarnessContext,
  { yes }: { readonly yes?: true },
  question: string,
): Promise<number | null> {
  if (yes === true) return null;
  terminal.showProgress("");
  const answer = await confirm(question, { io, signal });
  if (answer === true) return null;
  if (answer === false) terminal.note("Nothing was deleted.\n");
  else terminal.note(`${question} No terminal is available for confirmation. Fix: add --yes.\n`);
  return answer === false ? 1 : 2;
}

function readSpecSources(
  flags: SettingsFlags & { readonly name?: string },
  { cwd }: CommandIo,
): SpecSources {
  const { name, role, model, systemPrompt, maxIterations, maxTokens, timeoutSeconds } = flags;
  return {
    folder: cwd,
    specFile: flags.spec,
    toolsFile: flags.tools,
    overrides: omitUndefined({
      name,
      roleArn: role,
      model,
      systemPrompt,
      maxIterations,
      maxTokens,
      timeoutSeconds,
    }),
  };
}

function resolveHarnessId(
  reference: string,
  run: HarnessContext,
  { flags, waiting }: { readonly flags: StoreFlags; readonly waiting: Poll },
): Promise<string> {
  return findHarnessId(reference, waiting, () => openCommandCache(run, flags));
}

function openCommandCache(
  { io, client, report }: HarnessContext,
  flags: StoreFlags,
): Promise<HarnessCache> {
  return openHarnessCache(client, { ...flags, io }, (message) => report.warn(message));
}

/** Removes a deleted harness from the cache. A failure is only a warning, since the deletion itself succeeded. */
async function removeFromCache(
  name: string,
  run: HarnessContext,
  flags: StoreFlags,
): Promise<void> {
  if (!existsSync(resolveStorePath(flags, run.io, () => undefined))) return;
  try {
    await (await openCommandCache(run, flags)).forget(name);
  } catch (error) {
    run.report.warn(error instanceof Error ? error.message : String(error));
  }
}

function redactText(text: string, { redact }: GetFlags): string {
  return redact === true ? createAccountMasker()(text) : text;
}
