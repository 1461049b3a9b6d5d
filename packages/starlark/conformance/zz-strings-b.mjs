import { runBazelbuild } from "./zz-strings-b.ts";
const r=await runBazelbuild("/tmp/bzlfull");console.log(r.summary);for(const f of r.files)for(const m of f.misses)console.log(m.file,m.line,"want",m.want,"got",m.got.slice(0,300));
