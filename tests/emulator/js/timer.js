// The timer.
//
// The stock timer rounds an alarm down to whole microseconds from now, so that it rings up to a microsecond early; the
// driver then finds that the time has not come, and asks again and again. Here it rings when the count is reached.

const ALARM0 = 0x10;
const ALARM3 = 0x1c;

export function ringOnTime(timer) {
  const write = timer.writeUint32.bind(timer);
  timer.writeUint32 = (offset, value) => {
    if (offset < ALARM0 || offset > ALARM3) return write(offset, value);
    const alarm = timer.alarms[(offset - ALARM0) / 4];
    const now = timer.clock.nanos / 1000;
    const wait = (value - Math.floor(now)) >>> 0;
    alarm.armed = true;
    alarm.targetMicros = value;
    alarm.clockAlarm.schedule((Math.floor(now) + wait - now) * 1000);
  };
}
