import { Counter } from 'prom-client';

interface Traffic {
  /** Events, once for each socket that was sent one. */
  delivered: number;
  /** Sockets that were cut because they left too much unread. */
  cut: number;
  /** Sockets that were closed because they sent too much. */
  flooded: number;
}

/** Counts of the event doors of this process. Plain numbers, because one event may go to thousands of sockets. */
export const traffic: Record<'trpc' | 'socketio', Traffic> = {
  trpc: { delivered: 0, cut: 0, flooded: 0 },
  socketio: { delivered: 0, cut: 0, flooded: 0 },
};

function count(what: keyof Traffic, name: string, help: string): void {
  new Counter({
    name,
    help,
    labelNames: ['door'],
    collect() {
      this.reset();
      for (const [door, numbers] of Object.entries(traffic)) this.inc({ door }, numbers[what]);
    },
  });
}

count('delivered', 'parley_events_delivered_total', 'Events that were sent, once for each socket');
count(
  'cut',
  'parley_sockets_cut_total',
  'Sockets that were cut because they did not read what they were sent',
);
count(
  'flooded',
  'parley_sockets_flooded_total',
  'Sockets that were closed because they sent more than a client does',
);
