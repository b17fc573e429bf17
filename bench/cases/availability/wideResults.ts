import type { Attack } from '../../support/attack.ts';

const CALLS = 8;
/** A result of seven megabytes with different member names, made once. */
const CONTENT = `import json
class Tools:
    def __init__(self):
        self.rows = [{f"m{row}_{column}": 0 for column in range(110)} for row in range(4000)]
    def wide(self): return self.rows
`;

/** An ordinary user calls a tool with wide results, eight calls at a time. */
export const wideResults: Attack = {
  what: 'results of a tool with 440,000 names of members',
  targets: { health: 150, others: 150, memory: 700 },
  async prepare(parley) {
    const everyone = { principal_type: 'user', principal_id: '*', permission: 'read' };
    const tool = { id: 'wide', name: 'Wide', content: CONTENT, meta: {}, access_grants: [everyone] };
    await parley.asAdministrator('POST /tools/create', tool);
    return null;
  },
  async attack({ url, token }) {
    const call = async () => {
      const response = await fetch(`${url}/api/v1/tools/id/wide/call`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{"function":"wide"}',
      });
      await response.arrayBuffer();
    };
    const callOn = async () => {
      for (;;) await call().catch(() => {});
    };
    await call();
    for (let at = 0; at < CALLS; at += 1) void callOn();
  },
};
