import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createHost } from "../../../host/methods/create-host.ts";
import {
  readClientProfile,
  resolveLineLimit,
  STOCK_CLIENT,
  applyUpdatesSetting,
  type ClientProfile,
} from "./client-profile.ts";

describe("Client profile", () => {
  it("A client without declared capabilities is a stock client [ACP-25]", () => {
    for (const nothing of [undefined, null, {}, [], "x", { _meta: null, fs: null, session: 1 }]) {
      expect(readClientProfile(nothing)).toEqual(STOCK_CLIENT);
    }
  });

  it.each([
    [100_000, 100_000],
    [1, 16 * 1024],
    [1e12, 16 * 1024 * 1024],
    [0, undefined],
    [-5, undefined],
    ["100", undefined],
  ])("The declared line limit %j is clamped to the supported range", (maxLineBytes, limit) => {
    const profile = readClientProfile({ _meta: { harn: { maxLineBytes } } });
    expect(profile.maxLineBytes).toBe(limit);
    expect(resolveLineLimit(profile)).toBe(limit ?? 16 * 1024 * 1024);
    expect(resolveLineLimit(STOCK_CLIENT)).toBe(48 * 1024);
  });

  it("All declared capabilities are read", () => {
    const capabilities = {
      fs: { readTextFile: true, writeTextFile: true },
      terminal: true,
      session: { notices: {} },
      elicitation: { form: {} },
      _meta: {
        harn: {
          hostTools: true,
          callRecords: true,
          shells: true,
          skills: true,
          agentEvents: true,
        },
        terminal_output: true,
      },
    };
    expect(readClientProfile(capabilities)).toEqual({
      isBridgeHost: true,
      usesBridge: true,
      acceptsEvents: true,
      hasTools: true,
      recognizesToolCalls: true,
      hasShells: true,
      hasSkills: true,
      readsFiles: true,
      writesFiles: true,
      runsTerminals: true,
      showsTerminalOutput: true,
      acceptsNotices: true,
      showsCompactions: false,
      showsForms: true,
    });
  });

  it.each([undefined, {}, { form: null }, { url: {} }, "form"])(
    "A client with the elicitation capability %j shows no forms",
    (elicitation) => {
      expect(readClientProfile({ elicitation }).showsForms).toBe(false);
    },
  );

  it("A host created with the host SDK declares its tools, shells and skills [W-29]", () => {
    const skills = { list: () => [], fetch: () => undefined };
    const shells = { shells: [], defaultId: null };
    const { capabilities } = createHost({ tools: [], shells, skills });
    const offers = { hasTools: true, hasShells: true, hasSkills: true };
    expect(readClientProfile(capabilities)).toMatchObject(offers);
  });

  it.each([false, null, 0, "", "yes"])(
    "The capability harn: %j does not make a client a bridge host",
    (harn) => {
      expect(readClientProfile({ _meta: { harn } }).isBridgeHost).toBe(false);
    },
  );

  it("The updates setting overrides the declared capabilities [ACP-128]", () => {
    const host = readClientProfile({ _meta: { harn: { agentEvents: true } } });
    const known = (profile: ClientProfile) => [profile.isBridgeHost, profile.acceptsEvents];
    expect(known(applyUpdatesSetting(host, "auto"))).toEqual([true, true]);
    expect(known(applyUpdatesSetting(STOCK_CLIENT, "auto"))).toEqual([false, false]);
    expect(known(applyUpdatesSetting(STOCK_CLIENT, "auto", true))).toEqual([true, false]);
    expect(known(applyUpdatesSetting(STOCK_CLIENT, "bridge"))).toEqual([true, false]);
    expect(known(applyUpdatesSetting(host, "standard"))).toEqual([false, false]);
    expect(known(applyUpdatesSetting(host, "standard", true))).toEqual([false, false]);
  });

  it("Any JSON value yields a complete profile [ACP-25]", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(Object.keys(readClientProfile(value))).toEqual(Object.keys(STOCK_CLIENT));
      }),
    );
  });
});
