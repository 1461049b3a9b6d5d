import { FileApprovalStore } from "@toolcrib/metatool";
import { testApprovalStore } from "./approval-store-contract.ts";

testApprovalStore("files of the saved tools", (saved) => new FileApprovalStore(saved));
