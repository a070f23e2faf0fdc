import type { Provider } from "../../providers/provider.ts";

/** A provider, and what runs for it on this machine. */
export interface StartedProvider {
  readonly provider: Provider;
  readonly close: () => Promise<void>;
}
