import { Option } from "commander";

/** `--updates` of the commands that serve ACP clients. */
export interface UpdatesFlags {
  readonly updates?: "auto" | "bridge" | "standard";
}

/** Without a default: the configuration's `acp.updates` comes before that. */
export function updatesOption(): Option {
  return new Option(
    "-u, --updates <which>",
    "what ACP clients are sent: what they say they know (auto), everything of the bridge protocol, or ACP alone",
  ).choices(["auto", "bridge", "standard"]);
}
