import type { Base } from '../noun.ts';
import { createToolJobs } from './install/install.jobs.ts';
import { keepPackagesSwept } from './install/install.sweep.ts';
import { openRunLog } from './runs/runs.log.ts';

export function startTools({ sql, bus, configs, python, log, warn }: Base) {
  const stopEvicting = bus.subscribe('tool.changed', ({ id }) => python.evict(id));
  const toolRuns = openRunLog(sql, warn('Runs of tools could not be stored.'));
  const packages = keepPackagesSwept({ sql, python }, warn('Packages of no tool could not be removed.'));
  const toolJobs = createToolJobs({ python, sql, bus, configs }, (error, tool) =>
    log.warn({ err: error, tool }, 'A tool could not be prepared.'),
  );
  return {
    parts: { toolRuns, toolJobs },
    async close() {
      stopEvicting();
      await packages.close();
      await toolRuns.close();
    },
  };
}
