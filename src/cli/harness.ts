import { existsSync } from "node:fs";
import { accountPseudonyms } from "../domain/account-pseudonyms.ts";
import { NotFoundError } from "../domain/provider-error.ts";
import { oneLine } from "../inspect/style.ts";
import { updateHarness, waitUntilReady } from "../provisioning/change-harness.ts";
import type { Harness } from "../provisioning/control-client.ts";
import { findHarnessId } from "../provisioning/find-harness.ts";
import { checkTag, type HarnessCache } from "../provisioning/harness-cache.ts";
import type { HarnessHandle } from "../provisioning/harness-handle.ts";
import { provision } from "../provisioning/provision.ts";
import { planPrune, prune } from "../provisioning/prune.ts";
import { readChanges, readSpec, type SpecSources } from "../provisioning/spec-file.ts";
import { waitUntilGone } from "../provisioning/wait.ts";
import type { Waiting } from "../provisioning/waiting.ts";
import { askWhether } from "./ask.ts";
import { runHarness, SHORT_SECONDS, type HarnessFlags, type HarnessRun } from "./harness-run.ts";
import { openCache, storePath, type StoreFlags } from "./harness-store.ts";
import { brief, handleText, harnessText, json, tableText } from "./harness-text.ts";

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

export async function createCommand(flags: CreateFlags): Promise<number> {
  return runHarness(flags, {}, async (run) => {
    const { client, terminal } = run;
    const spec = await readSpec(sourcesFrom(flags));
    if (!flags.wait) {
      const harness = await run.within(({ budget }) => client.createHarness(spec, budget));
      await terminal.write(flags.json === true ? json(brief(harness)) : harnessText(harness, []));
      return 0;
    }
    const { endpoint, tag } = flags;
    if (tag !== undefined) checkTag(tag);
    const options = { ...run, ...(endpoint !== undefined && { endpoint }) };
    const start = client.clock.now();
    if (flags.contentName === true || tag !== undefined) {
      const cache = await cacheFor(run, flags);
      const { handle, origin } = await cache.ensure(spec, options);
      if (tag !== undefined) await cache.tag(spec.name, tag, handle.name);
      return told(run, flags, { handle, origin, start });
    }
    const { handle, origin, differences } = await provision(spec, options);
    return told(run, flags, { handle, origin, start, differences });
  });
}

interface Outcome {
  readonly handle: HarnessHandle;
  readonly origin: "created" | "adopted" | "remembered";
  readonly start: number;
  readonly differences?: readonly string[];
}

async function told(
  { client, terminal }: HarnessRun,
  { json: isJson }: HarnessFlags,
  { handle, origin, start, differences = [] }: Outcome,
): Promise<number> {
  terminal.progress("");
  if (isJson === true) {
    await terminal.write(json({ ...handle, origin, differences }));
    return 0;
  }
  await terminal.write(handleText(handle));
  const seconds = Math.round((client.clock.now() - start) / 1000);
  const how = {
    created: `Created in ${seconds} s.`,
    adopted: "It was there already.",
    remembered: "It was there already.",
  }[origin];
  terminal.note(`${how}\n`);
  if (differences.length > 0) {
    const list = differences.join(", ");
    terminal.note(
      `It is not as the spec says in: ${list}. \`spanline harness update ${handle.name}\` changes that.\n`,
    );
  }
  return 0;
}

export interface GetFlags extends HarnessFlags, StoreFlags {
  readonly redact?: true;
}

export async function getCommand(reference: string, flags: GetFlags): Promise<number> {
  return runHarness(flags, { reference, timeout: SHORT_SECONDS }, async (run) => {
    const { client, terminal } = run;
    const { harness, endpoints } = await run.within(async (waiting) => {
      const id = await idOf(reference, run, { flags, waiting });
      const [harness, { items }] = await Promise.all([
        client.getHarness(id, waiting.budget),
        client.listEndpoints(id, waiting.budget),
      ]);
      return { harness, endpoints: items };
    });
    const text =
      flags.json === true
        ? json({ ...harness.raw, endpoints: endpoints.map(({ raw }) => raw) })
        : harnessText(harness, endpoints);
    await terminal.write(shown(text, flags));
    return 0;
  });
}

export interface ListFlags extends GetFlags {
  readonly prefix?: string;
}

export async function listCommand(flags: ListFlags): Promise<number> {
  return runHarness(flags, { timeout: SHORT_SECONDS }, async (run) => {
    const { client, terminal, report } = run;
    const { items, isComplete } = await run.within(({ budget }) => client.listHarnesses(budget));
    if (!isComplete) {
      report.warn("The service led round in a circle: there may be more harnesses than these.");
    }
    const { prefix = "" } = flags;
    const harnesses = items
      .filter(({ name }) => name.startsWith(prefix))
      .sort((left, right) => (left.name < right.name ? -1 : 1));
    if (flags.json === true) await terminal.write(shown(json(harnesses.map(brief)), flags));
    else if (harnesses.length > 0) await terminal.write(shown(tableText(harnesses), flags));
    else terminal.note("There are no harnesses here. `spanline harness create` makes one.\n");
    return 0;
  });
}

export async function updateCommand(reference: string, flags: SettingsFlags): Promise<number> {
  return runHarness(flags, { reference }, async (run) => {
    const changes = await readChanges(sourcesFrom(flags));
    const harness = await run.within(async (waiting) => {
      const id = await idOf(reference, run, { flags, waiting });
      return flags.wait
        ? updateHarness(waiting, id, changes)
        : run.client.updateHarness(id, changes, waiting.budget);
    });
    run.terminal.progress("");
    await run.terminal.write(flags.json === true ? json(brief(harness)) : harnessText(harness, []));
    return 0;
  });
}

export interface DeleteFlags extends HarnessFlags, StoreFlags {
  readonly yes?: true;
  readonly keepMemory?: true;
  readonly wait: boolean;
}

export async function deleteCommand(reference: string, flags: DeleteFlags): Promise<number> {
  return runHarness(flags, { reference }, async (run) => {
    const { client, terminal } = run;
    const harness = await run.within(async (waiting) => {
      const id = await idOf(reference, run, { flags, waiting });
      return client.getHarness(id, waiting.budget);
    });
    const { name, id, status } = harness;
    const question = `Delete harness ${name} (${id}, ${status ?? "without a status"})?`;
    const answer = await agreed(run, flags, oneLine(question));
    if (answer !== null) return answer;
    await run.within(async (waiting) => {
      const keepMemory = flags.keepMemory === true;
      await client.deleteHarness(id, waiting.budget, { keepMemory });
      if (flags.wait) await waitUntilGone(waiting, harness);
    });
    await forget(name, run, flags);
    terminal.progress("");
    const state = flags.wait ? "deleted" : "deleting";
    if (flags.json === true) await terminal.write(json({ ...brief(harness), state }));
    else
      terminal.note(`Harness ${oneLine(name)} is ${flags.wait ? "deleted" : "being deleted"}.\n`);
    return 0;
  });
}

export interface WaitFlags extends HarnessFlags, StoreFlags {
  readonly endpoint?: string;
  readonly gone?: true;
}

export async function waitCommand(reference: string, flags: WaitFlags): Promise<number> {
  const flag = (path: string): string | undefined => (path === "name" ? "--endpoint" : undefined);
  return runHarness(flags, { reference, flag }, async (run) => {
    const { terminal, client } = run;
    const harness = await run
      .within(async (waiting) => {
        const id = await idOf(reference, run, { flags, waiting });
        if (flags.gone !== true) return waitUntilReady(waiting, id, flags);
        const found = await client.getHarness(id, waiting.budget);
        await waitUntilGone(waiting, found);
        return null;
      })
      .catch((error: unknown) => {
        // What is waited for to be gone may be gone before anybody looked.
        if (flags.gone === true && error instanceof NotFoundError) return null;
        throw error;
      });
    terminal.progress("");
    if (harness === null) {
      if (flags.json === true) await terminal.write(json({ state: "deleted" }));
      else terminal.note(`There is no harness ${oneLine(reference)} any more.\n`);
      return 0;
    }
    await terminal.write(flags.json === true ? json(brief(harness)) : harnessText(harness, []));
    return 0;
  });
}

export interface PruneFlags extends HarnessFlags, StoreFlags {
  readonly keep: number;
  readonly yes?: true;
  readonly dryRun?: true;
}

export async function pruneCommand(base: string, flags: PruneFlags): Promise<number> {
  return runHarness(flags, {}, async (run) => {
    const { terminal } = run;
    const cache = await cacheFor(run, flags);
    const plan = await run.within((waiting) =>
      planPrune({ base, keep: flags.keep }, waiting, cache),
    );
    const { kept, doomed } = plan;
    const isJson = flags.json === true;
    if (!isJson) terminal.note(planText(kept, doomed));
    if (flags.dryRun === true || doomed.length === 0) {
      if (isJson)
        await terminal.write(
          json({ kept: names(kept), deleted: [], failed: [], doomed: names(doomed) }),
        );
      return 0;
    }
    const answer = await agreed(run, flags, `Delete ${doomed.length} of these harnesses?`);
    if (answer !== null) return answer;
    const { deleted, failed } = await run.within((waiting) => prune(plan, waiting, cache));
    for (const { harness, error } of failed) {
      terminal.note(oneLine(`${harness.name} could not be deleted: ${error.message}`) + "\n");
    }
    const failures = failed.map(({ harness: { name }, error: { message } }) => ({ name, message }));
    const pruned = { kept: names(kept), deleted: names(deleted), failed: failures };
    await terminal.write(isJson ? json(pruned) : `${deleted.length} of ${doomed.length} deleted\n`);
    return failed.length === 0 ? 0 : 1;
  });
}

function planText(kept: readonly Harness[], doomed: readonly Harness[]): string {
  const lines = [
    ...kept.map(({ name }) => `  keep    ${name}`),
    ...doomed.map(({ name, createdAt }) => `  delete  ${name}  ${createdAt ?? ""}`),
  ];
  if (lines.length === 0) return "There is no harness of this base.\n";
  return `${lines.map((line) => oneLine(line).trimEnd()).join("\n")}\n`;
}

function names(harnesses: readonly Harness[]): string[] {
  return harnesses.map(({ name }) => name);
}

/** Null when it may be done; else the exit code. */
async function agreed(
  { terminal, signal }: HarnessRun,
  { yes }: { readonly yes?: true },
  question: string,
): Promise<number | null> {
  if (yes === true) return null;
  terminal.progress("");
  const answer = await askWhether(question, { signal });
  if (answer === true) return null;
  if (answer === false) terminal.note("Nothing was deleted.\n");
  else terminal.note(`${question} There is nobody to ask; add --yes to do it.\n`);
  return answer === false ? 1 : 2;
}

function sourcesFrom(flags: SettingsFlags & { readonly name?: string }): SpecSources {
  const { name, role, model, systemPrompt, maxIterations, maxTokens, timeoutSeconds } = flags;
  return {
    specFile: flags.spec,
    toolsFile: flags.tools,
    said: {
      ...(name !== undefined && { name }),
      ...(role !== undefined && { roleArn: role }),
      ...(model !== undefined && { model }),
      ...(systemPrompt !== undefined && { systemPrompt }),
      ...(maxIterations !== undefined && { maxIterations }),
      ...(maxTokens !== undefined && { maxTokens }),
      ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    },
  };
}

function idOf(
  reference: string,
  run: HarnessRun,
  { flags, waiting }: { readonly flags: StoreFlags; readonly waiting: Waiting },
): Promise<string> {
  return findHarnessId(reference, waiting, () => cacheFor(run, flags));
}

function cacheFor({ client, report }: HarnessRun, flags: StoreFlags): Promise<HarnessCache> {
  return openCache(client, flags, (message) => report.warn(message));
}

/** What was deleted is deleted, whether or not that can be written down. */
async function forget(name: string, run: HarnessRun, flags: StoreFlags): Promise<void> {
  if (!existsSync(storePath(flags, () => undefined))) return;
  try {
    await (await cacheFor(run, flags)).forget(name);
  } catch (error) {
    run.report.warn(error instanceof Error ? error.message : String(error));
  }
}

function shown(text: string, { redact }: GetFlags): string {
  return redact === true ? accountPseudonyms()(text) : text;
}
