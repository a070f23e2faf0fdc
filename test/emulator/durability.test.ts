import {
  CreateHarnessCommand,
  CreateHarnessEndpointCommand,
  DeleteHarnessCommand,
  GetHarnessCommand,
  ListHarnessEndpointsCommand,
  ListHarnessesCommand,
  UpdateHarnessCommand,
} from "@aws-sdk/client-bedrock-agentcore-control";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startEmulator } from "../../src/emulator/start-emulator.ts";
import {
  clientOf,
  harnessNamed,
  started,
  stillClock,
  temporaryFolder,
  TOKEN,
} from "./start-control-plane.ts";

const root = join(import.meta.dirname, "../..");
const program = mkdtempSync(join(tmpdir(), "spanline-emulator-program-"));

/** Builds the emulator as a separate program, so a test can kill it. */
beforeAll(async () => {
  writeFileSync(join(program, "package.json"), '{"type":"module","version":"0.0.0"}');
  const entry = join(program, "entry.js");
  const module = JSON.stringify(join(root, "src/emulator/start-emulator.ts"));
  writeFileSync(
    entry,
    `import { startEmulator } from ${module};
     const emulator = await startEmulator({ dataDirectory: process.argv[2] });
     console.log(emulator.url);`,
  );
  const bundle = await rolldown({ input: entry, platform: "node", external: [/^node:/] });
  await bundle.write({ file: join(program, "emulator.js"), format: "esm" });
  await bundle.close();
});

afterAll(() => rmSync(program, { recursive: true, force: true }));

async function spawned(
  dataDirectory: string,
): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, [join(program, "emulator.js"), dataDirectory], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [url] = await once(createInterface(child.stdout), "line");
  return { child, url: String(url) };
}

describe("An emulator with a data directory", () => {
  it("All state survives a restart [AC-86] [AC-91]", async () => {
    const dataDirectory = temporaryFolder();
    const clock = stillClock();
    const first = await startEmulator({ dataDirectory, clock, delays: { create: 10_000 } });
    const before = clientOf(first.url);
    const create = harnessNamed("helper", {
      clientToken: TOKEN,
      systemPrompt: [{ text: "Grüße" }],
      tags: { a: "b" },
    });
    const { harness } = await before.send(new CreateHarnessCommand(create));
    const harnessId = harness?.harnessId ?? "";
    await first.advance(10_000);
    await before.send(new UpdateHarnessCommand({ harnessId, maxTokens: 5 }));
    await before.send(
      new CreateHarnessEndpointCommand({ harnessId, endpointName: "prod", targetVersion: "1" }),
    );
    const gone = await before.send(new CreateHarnessCommand(harnessNamed("gone")));
    await first.advance(10_000);
    await before.send(new DeleteHarnessCommand({ harnessId: gone.harness?.harnessId }));
    const seen = async (client: typeof before) => [
      (await client.send(new GetHarnessCommand({ harnessId }))).harness,
      (await client.send(new ListHarnessEndpointsCommand({ harnessId }))).endpoints,
      (await client.send(new ListHarnessesCommand({}))).harnesses,
    ];
    const expected = await seen(before);
    before.destroy();
    await first.close();

    const { client, emulator } = await started({ dataDirectory, clock });
    expect(await seen(client)).toEqual(expected);
    expect(emulator.clock.now()).toBe(clock.now() + 20_000);
    expect((await client.send(new CreateHarnessCommand(create))).harness?.harnessId).toBe(
      harnessId,
    );
    expect(
      emulator.registry.findHarness(harness?.arn ?? "", undefined, emulator.clock.now())?.tags,
    ).toEqual({ a: "b" });
  });

  it("Files are readable by their owner only", async () => {
    const dataDirectory = join(temporaryFolder(), "data");
    const { emulator } = await started({ dataDirectory });
    await emulator.advance(1000);
    expect(readdirSync(dataDirectory).sort()).toEqual([
      "clock.json",
      "harnesses.json",
      "held-by.pid",
    ]);
    for (const name of readdirSync(dataDirectory)) {
      expect(statSync(join(dataDirectory, name)).mode & 0o777).toBe(0o600);
    }
    expect(statSync(dataDirectory).mode & 0o777).toBe(0o700);
  });

  it.each([
    ["invalid JSON", "{", "Cannot read"],
    ["another format", '{"format":2}', "2 is not a valid format: expected 1"],
    [
      "an invalid harness",
      '{"format":1,"harnesses":[{"id":"a","versions":[]}],"tokens":[]}',
      "harnesses[0].versions is empty",
    ],
    [
      "an invalid token",
      '{"format":1,"harnesses":[],"tokens":[{"operation":"a","token":"b","fingerprint":"c","harnessId":5,"usedAt":1}]}',
      "5 is not a valid tokens[0].harnessId: expected a string",
    ],
  ])("A file with %s is refused at the start and left unchanged", async (_, text, words) => {
    const dataDirectory = temporaryFolder();
    writeFileSync(join(dataDirectory, "harnesses.json"), text);
    await expect(startEmulator({ dataDirectory })).rejects.toMatchObject({
      code: "unreadable_input",
      message: expect.stringContaining(words),
    });
  });

  it("Every answered request survives kill -9 under load", async () => {
    const dataDirectory = temporaryFolder();
    const { child, url } = await spawned(dataDirectory);
    const before = clientOf(url);
    const answered: string[] = [];
    let requestCount = 0;
    const callers = Array.from({ length: 20 }, async () => {
      for (;;) {
        const name = `h${(requestCount += 1)}`;
        await before.send(new CreateHarnessCommand(harnessNamed(name)));
        answered.push(name);
        // Kill the process while the other requests are running.
        if (answered.length === 20) child.kill("SIGKILL");
      }
    });
    const outcomes = await Promise.allSettled(callers);
    before.destroy();
    await (child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined);
    expect(child.signalCode).toBe("SIGKILL");
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);

    const again = await spawned(dataDirectory);
    const client = clientOf(again.url);
    const { harnesses } = await client.send(new ListHarnessesCommand({}));
    client.destroy();
    const found = harnesses?.map(({ harnessName, status }) => `${harnessName} ${status}`) ?? [];
    expect(found).toEqual(expect.arrayContaining(answered.map((name) => `${name} READY`)));
    expect(found).toContain("demo READY");
  });
});
