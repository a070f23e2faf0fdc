import { onTestFinished } from "vitest";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { storeContract } from "../contracts/store-contract.ts";

storeContract("memory", {
  async open() {
    const store = memoryStore();
    onTestFinished(() => store.close());
    return store;
  },
});
