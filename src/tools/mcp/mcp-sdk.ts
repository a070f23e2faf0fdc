import type * as Client from "@modelcontextprotocol/client";

export type Sdk = typeof Client;

/**
 * Loads the official MCP client on first use: it takes 200 ms and 28 MB, which processes without MCP servers should not
 * pay.
 */
export function loadSdk(): Promise<Sdk> {
  return import("@modelcontextprotocol/client");
}

/** Accepts any result without validation: an invalid tool must not make the whole list fail. */
export const anyResult = {
  "~standard": {
    version: 1,
    vendor: "spanline",
    validate: (value: unknown) => ({ value }),
  },
} as const;

/**
 * Disables the SDK's timeouts, since Spanline applies its own with its own clock. The longest delay of a Node timer.
 */
export const NO_TIMEOUT = 2 ** 31 - 1;
