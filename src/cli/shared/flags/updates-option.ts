import { Option } from "commander";

/** `--updates` of the commands that serve ACP clients. */
export interface UpdatesFlags {
  readonly updates?: "auto" | "bridge" | "standard";
}

/** Has no default here, because `acp.updates` of the configuration takes precedence over the default. */
export function createUpdatesOption(): Option {
  return new Option(
    "-u, --updates <which>",
    "updates for ACP clients: by their declared capabilities (auto, the default), the whole bridge protocol, or ACP only",
  ).choices(["auto", "bridge", "standard"]);
}
