// Acquires, keeps, loses and releases a lock with Node's standard library.
// STILE_URL is the HTTP address of a node.

const url = process.env.STILE_URL ?? 'http://127.0.0.1:7421';

// A Problem is an error of the node: its code, such as failed_precondition, and its reason.
class Problem extends Error {
  constructor(code, reason, message) {
    super(`${code} (${reason}): ${message}`);
    Object.assign(this, { code, reason });
  }
}

const milliseconds = (duration) => Number.parseFloat(duration) * 1000;

async function call(method, fields = {}) {
  const answer = await fetch(`${url}/stile.v1.${method}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(fields),
  });
  const body = await answer.json();
  if (!answer.ok) throw new Problem(body.code, answer.headers.get('Stile-Reason'), body.message ?? '');
  return body;
}

// stream yields the messages of a stream: each has a flag, a length and a JSON object.
async function* stream(method, fields, signal) {
  const body = Buffer.from(JSON.stringify(fields));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(body.length, 1);
  const answer = await fetch(`${url}/stile.v1.${method}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/connect+json' },
    body: Buffer.concat([head, body]),
    signal,
  });
  let rest = Buffer.alloc(0);
  for await (const chunk of answer.body) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1);
      const [flag, message] = [rest[0], JSON.parse(rest.subarray(5, end).toString())];
      rest = rest.subarray(end);
      if ((flag & 2) === 0) {
        yield message;
      } else if (message.error) {
        throw new Problem(message.error.code, message.metadata?.['Stile-Reason']?.[0], message.error.message ?? '');
      }
    }
  }
}

// unary keeps a session alive, and counts exactly.
async function unary() {
  const { session } = await call('Locks/OpenSession', { label: 'nightly job' });
  let before = performance.now(); // before the request is sent
  const { held } = await call('Locks/Acquire', { session, name: 'jobs/nightly', wait: '30s' });
  let deadline = before + milliseconds(held.validFor);
  console.log('held with token', held.token);
  for (let i = 0; i < 3; i++) { // every third of the session's length
    if (i === 2) await call('Cluster/ForceRelease', { name: 'jobs/nightly' }); // what an operator may do at any time
    before = performance.now();
    const answer = await call('Locks/KeepAlive', { session });
    if (answer.lost) {
      console.log('lost:', answer.lost[0].reason);
      break; // stop the work
    }
    deadline = before + milliseconds(answer.validFor);
    console.log('kept alive:', deadline > performance.now());
  }
  try { // the token says which hold is released, if the call is delayed on its way
    await call('Locks/Release', { session, name: 'jobs/nightly', token: held.token });
  } catch (p) {
    console.log('release says:', p.code, p.reason);
  }
  const again = await call('Locks/Acquire', { session, name: 'jobs/nightly' });
  console.log('held again with token', again.held.token);
  const released = await call('Locks/Release', { session, name: 'jobs/nightly', token: again.held.token });
  console.log('released token', released.token);
  await call('Locks/CloseSession', { session });
}

// streaming holds a lock while a stream lives. Silence longer than validFor is a loss, too.
async function streaming() {
  const silence = new AbortController();
  let timer;
  const heard = (validFor) => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(new Error('lost: nothing heard in time')), milliseconds(validFor));
  };
  for await (const event of stream('Locks/Hold', { name: 'jobs/nightly', label: 'nightly job' }, silence.signal)) {
    if (event.waiting) {
      console.log('waiting at place', event.waiting.position ?? 0);
    } else if (event.held) {
      heard(event.held.validFor);
      console.log('the stream holds token', event.held.token);
    } else if (event.renewed) {
      heard(event.renewed.validFor);
      console.log('the stream is renewed');
      await call('Cluster/ForceRelease', { name: 'jobs/nightly' });
    } else if (event.lost) {
      console.log('the stream lost it:', event.lost.reason);
    }
  }
  clearTimeout(timer);
}

await unary();
await streaming();
