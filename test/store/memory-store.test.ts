import { onTestFinished } from "vitest";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { storeContract } from "../contracts/store-contract.ts";

storeContract("memory", {
  async open(options) {
    const store = createMemoryStore(options);
    onTestFinished(() => store.close());
    return store;
  },
});
