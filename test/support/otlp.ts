/**
 * Reads requests of OTLP in protobuf as the JSON form of the same messages, by the numbers of `opentelemetry-proto` 1.x
 * (`trace/v1/trace.proto`, `metrics/v1/metrics.proto`). Fields that are not named here are left out.
 */

type Reader = (bytes: Buffer) => unknown;
/** By number: the name in JSON, and how its bytes are read. */
type Fields = Record<number, [name: string, read: Reader | Message, many?: true]>;
interface Message {
  fields: () => Fields;
}

const text: Reader = (bytes) => bytes.toString('utf8');
const hex: Reader = (bytes) => bytes.toString('hex');
const integer: Reader = (bytes) => Number(varint(bytes, 0)[0]);
const nanoseconds: Reader = (bytes) => String(bytes.readBigUInt64LE());
const double: Reader = (bytes) => bytes.readDoubleLE();
const flag: Reader = (bytes) => varint(bytes, 0)[0] !== 0n;
const packed =
  (read: Reader): Reader =>
  (bytes) =>
    Array.from({ length: bytes.length / 8 }, (_, at) => read(bytes.subarray(at * 8, at * 8 + 8)));

const message = (fields: () => Fields): Message => ({ fields });

const AnyValue: Message = message(() => ({
  1: ['stringValue', text],
  2: ['boolValue', flag],
  3: ['intValue', integer],
  4: ['doubleValue', double],
}));
const KeyValue = message(() => ({ 1: ['key', text], 2: ['value', AnyValue] }));
const Resource = message(() => ({ 1: ['attributes', KeyValue, true] }));
const Event = message(() => ({ 2: ['name', text], 3: ['attributes', KeyValue, true] }));
const Link = message(() => ({ 1: ['traceId', hex], 2: ['spanId', hex] }));
const Status = message(() => ({ 2: ['message', text], 3: ['code', integer] }));
const Span = message(() => ({
  1: ['traceId', hex],
  2: ['spanId', hex],
  4: ['parentSpanId', hex],
  5: ['name', text],
  6: ['kind', integer],
  7: ['startTimeUnixNano', nanoseconds],
  8: ['endTimeUnixNano', nanoseconds],
  9: ['attributes', KeyValue, true],
  11: ['events', Event, true],
  13: ['links', Link, true],
  15: ['status', Status],
}));
const ScopeSpans = message(() => ({ 2: ['spans', Span, true] }));
const ResourceSpans = message(() => ({ 1: ['resource', Resource], 2: ['scopeSpans', ScopeSpans, true] }));

const NumberPoint = message(() => ({ 4: ['asDouble', double], 7: ['attributes', KeyValue, true] }));
const HistogramPoint = message(() => ({
  4: ['count', nanoseconds],
  5: ['sum', double],
  6: ['bucketCounts', packed(nanoseconds)],
  7: ['explicitBounds', packed(double)],
  9: ['attributes', KeyValue, true],
}));
const Gauge = message(() => ({ 1: ['dataPoints', NumberPoint, true] }));
const Sum = message(() => ({ 1: ['dataPoints', NumberPoint, true], 3: ['isMonotonic', flag] }));
const Histogram = message(() => ({ 1: ['dataPoints', HistogramPoint, true] }));
const Metric = message(() => ({
  1: ['name', text],
  2: ['description', text],
  5: ['gauge', Gauge],
  7: ['sum', Sum],
  9: ['histogram', Histogram],
}));
const ScopeMetrics = message(() => ({ 2: ['metrics', Metric, true] }));
const ResourceMetrics = message(() => ({
  1: ['resource', Resource],
  2: ['scopeMetrics', ScopeMetrics, true],
}));

const REQUESTS: Record<string, Message> = {
  '/v1/traces': message(() => ({ 1: ['resourceSpans', ResourceSpans, true] })),
  '/v1/metrics': message(() => ({ 1: ['resourceMetrics', ResourceMetrics, true] })),
};

/** A request to one of the two paths of OTLP as JSON. */
export function readOtlp(path: string, body: Buffer): Record<string, unknown> {
  const request = REQUESTS[path];
  if (!request) throw new Error(`OTLP has no ${path}.`);
  return read(request, body);
}

function read(of: Message, bytes: Buffer): Record<string, unknown> {
  const fields = of.fields();
  const found: Record<string, unknown> = {};
  for (let at = 0; at < bytes.length; ) {
    const [tag, start] = varint(bytes, at);
    const [value, end] = valueAt(bytes, start, Number(tag & 7n));
    at = end;
    const field = fields[Number(tag >> 3n)];
    if (!field) continue;
    const [name, reader, isMany] = field;
    const one = typeof reader === 'function' ? reader(value) : read(reader, value);
    if (isMany) found[name] = [...((found[name] as unknown[]) ?? []), one];
    else found[name] = one;
  }
  return found;
}

function valueAt(bytes: Buffer, start: number, wireType: number): [Buffer, number] {
  switch (wireType) {
    case 0: {
      const [, end] = varint(bytes, start);
      return [bytes.subarray(start, end), end];
    }
    case 1:
      return [bytes.subarray(start, start + 8), start + 8];
    case 2: {
      const [length, from] = varint(bytes, start);
      const end = from + Number(length);
      if (end > bytes.length) throw new Error('The message is cut off.');
      return [bytes.subarray(from, end), end];
    }
    case 5:
      return [bytes.subarray(start, start + 4), start + 4];
    default:
      throw new Error(`Protobuf has no wire type ${wireType}.`);
  }
}

function varint(bytes: Buffer, start: number): [bigint, number] {
  let value = 0n;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    value |= BigInt(byte & 0x7f) << BigInt(7 * (at - start));
    if (byte < 0x80) return [value, at + 1];
  }
  throw new Error('The message is cut off.');
}
