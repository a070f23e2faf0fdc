import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { wants } from "../support/server/model-server.ts";
import { createProfile } from "./support/browser-tabs.ts";
import { createPortalPage } from "./support/portal-page.ts";
import { startScriptedBridge } from "./support/scripted-bridge.ts";

const write = (path: string) =>
  wants({ id: `w-${path}`, name: "write_file", input: { path, content: "written\n" } });

it("A person decides the requests of the inbox with the keyboard alone, and the reason of a denial reaches the agent", async () => {
  const bridge = await startScriptedBridge({
    responses: { "write a": write("a.txt"), "write b": write("b.txt") },
  });
  for (const name of ["a", "b"]) {
    const sessionId = await bridge.openSession(`Session ${name}`);
    await bridge.prompt(sessionId, `write ${name}`);
  }
  const tab = await (await createProfile()).openTab(`${bridge.url}/?token=${bridge.token}`);
  const portal = createPortalPage(tab);
  const { keyboard } = portal.page;
  await portal.requests.nth(1).waitFor();

  await keyboard.press("j");
  await keyboard.press("a");
  await eventually(async () => expect(await portal.requests.count()).toBe(1));
  expect(await portal.requests.textContent()).toContain("b.txt");
  await keyboard.press("d");
  await keyboard.type("use the other folder");
  await keyboard.press("Enter");
  await eventually(async () => expect(await portal.requests.count()).toBe(0));
  await eventually(() => expect(existsSync(join(bridge.project, "a.txt"))).toBe(true));
  // The sessions run at the same time, so the denial is not always in the last request.
  const listRequests = () => JSON.stringify(bridge.model.modelRequests);
  await eventually(() => expect(listRequests()).toContain("use the other folder"));
  expect(existsSync(join(bridge.project, "b.txt"))).toBe(false);
});

it("Selected requests are decided together after a list of all, and edited arguments are what runs", async () => {
  const names = ["a", "b", "c"];
  const bridge = await startScriptedBridge({
    responses: Object.fromEntries(names.map((name) => [`write ${name}`, write(`${name}.txt`)])),
  });
  const tab = await (await createProfile()).openTab(`${bridge.url}/?token=${bridge.token}`);
  const { page, requests } = createPortalPage(tab);
  const isWritten = (name: string): boolean => existsSync(join(bridge.project, name));
  // Each request waits before the next prompt, so that the oldest request is the first.
  for (const [index, name] of names.entries()) {
    await bridge.prompt(await bridge.openSession(`Session ${name}`), `write ${name}`);
    await requests.nth(index).waitFor();
  }
  for (const key of ["j", "x", "j", "x", "a"]) await page.keyboard.press(key);
  const dialog = page.getByRole("dialog", { name: "Allow 2 requests?" });
  expect(await dialog.getByRole("listitem").allInnerTexts()).toEqual([
    expect.stringContaining("a.txt"),
    expect.stringContaining("b.txt"),
  ]);
  expect(isWritten("a.txt")).toBe(false);
  await dialog.getByRole("button", { name: "Allow 2 requests" }).click();
  await eventually(async () => expect(await requests.count()).toBe(1));
  await eventually(() => expect(["a.txt", "b.txt"].map(isWritten)).toEqual([true, true]));

  await page.keyboard.press("j");
  // The list has just moved, so the key explains itself until the request stays in place.
  const editor = page.getByRole("textbox", { name: /arguments/i });
  await eventually(async () => {
    await page.keyboard.press("e");
    expect(await editor.isVisible()).toBe(true);
  });
  await editor.fill('{"path":"edited.txt","content":"edited\\n"}');
  await page.getByRole("button", { name: /^Allow/ }).click();
  await requests.waitFor({ state: "detached" });
  await eventually(() => expect(isWritten("edited.txt")).toBe(true));
  expect(isWritten("c.txt")).toBe(false);
});
