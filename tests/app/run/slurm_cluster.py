# A Slurm cluster of one node on loopback for slurm_test.py: own munged, slurmctld and slurmd, all their files in one folder.
import os, re, shutil, signal, socket, subprocess, time

skipped = 77
tools = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "scontrol", "sinfo", "setpriv")

configuration = """\
ClusterName=odrpo-test
SlurmctldHost={host}({address})
SlurmctldPort={controller_port}
SlurmdPort={node_port}
{listen}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# a job that is requeued waits until its old credential has expired: some seconds instead of two minutes
AuthInfo=socket={munge}/socket,cred_expire=10
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
MailProg=/bin/true
# a container may lack cgroups
ProctrackType=proctrack/pgid
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
# the node says what it has, whatever the machine has
SlurmdParameters=config_overrides
NodeName=node NodeHostname={host} NodeAddr={address} CPUs=8 RealMemory=65536 State=UNKNOWN
PartitionName=test Nodes=node Default=YES MaxTime=INFINITE State=UP
# a machine that is busy is not one that failed; ended jobs stay known, so that they can be requeued
SlurmdTimeout=3600
MinJobAge=3600
JobRequeue=1
KillWait=5
ReturnToService=2
SchedulerParameters=sched_interval=2,batch_sched_delay=1
"""


class NoSlurm(Exception):
    """Why there is no cluster here; no fault of the program."""


def free_ports(count):
    sockets = [socket.create_server(("", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def wait_until(good, seconds, alive=lambda: True):
    """The value of good() when it is true; None when that takes too long, or when what is waited for has died."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if value := good():
            return value
        if not alive():
            return None
        time.sleep(0.1)
    return None


class Cluster:
    """Use as a context: daemons and jobs end with it."""

    def __init__(self, folder, program):
        missing = [tool for tool in tools if not shutil.which(tool, path=self.search_path())]
        if missing:
            raise NoSlurm(f"{', '.join(missing)} not found")
        if os.geteuid() != 0:
            raise NoSlurm("slurmd starts jobs as root alone")
        self.folder, self.munge = folder, os.path.join(folder, "munge")
        for name in ("munge", "state", "spool", "bin"):
            os.makedirs(os.path.join(folder, name), mode=0o755)
        os.symlink(program, os.path.join(folder, "bin", "odrpo-bench"))
        with open(os.open(self.munge + "/key", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as key:
            key.write(os.urandom(128))
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "SBATCH", "SCONTROL", "OMPI_", "PMIX_")) and k != "JOB_COMPLETION_INDEX"}
        self.configuration = folder + "/slurm.conf"
        self.environment = {**clean, "SLURM_CONF": self.configuration, "PATH": folder + "/bin:" + self.search_path()}
        self.daemons = {}

    @staticmethod
    def search_path():
        return os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def daemon(self, name, *arguments):
        """Starts a daemon in the foreground, so that it is our child; it ends when this process does."""
        with open(f"{self.folder}/{name}.log", "wb") as log:
            self.daemons[name] = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", name, *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                                                  stdout=log, stderr=log, cwd=self.folder, start_new_session=True)

    def log(self, name, lines=3):
        with open(f"{self.folder}/{name}.log", errors="replace") as file:
            text = file.read().splitlines()
        faults = [line for line in text if re.search("fatal|error", line, re.I) and not re.search("state file|state save file", line)] or text
        return " | ".join(faults[-lines:])

    def start(self):
        # --force: the folder above is closed to other users, of which munged warns
        self.daemon("munged", "--foreground", "--force", f"--socket={self.munge}/socket", f"--key-file={self.munge}/key", f"--pid-file={self.munge}/pid",
                    f"--seed-file={self.munge}/seed")
        if not wait_until(lambda: os.path.exists(self.munge + "/socket"), 20, lambda: self.daemons["munged"].poll() is None):
            raise NoSlurm("munged does not start: " + self.log("munged"))
        for attempt in range(3):  # another process may take a port before the daemon does
            self.configure()
            self.daemon("slurmctld", "-D")
            self.daemon("slurmd", "-D", "-N", "node")
            both = lambda: all(self.daemons[name].poll() is None for name in ("slurmctld", "slurmd"))
            if wait_until(lambda: self.ask("sinfo", "-h", "-o", "%T").strip() == "idle", 30, both):
                return
            self.end("slurmd", "slurmctld")
            if "in use" not in self.log("slurmctld", 9) + self.log("slurmd", 9):
                break
        raise NoSlurm(f"the node does not come up: slurmctld: {self.log('slurmctld')}; slurmd: {self.log('slurmd')}")

    def configure(self):
        host = os.uname().nodename.split(".")[0]
        try:
            address = socket.gethostbyname(host)
        except OSError:
            address = ""
        # the daemons can listen where the host's name leads, or everywhere
        local = address.startswith("127.")
        listen = "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny" if local else "# the host's name does not lead to loopback"
        controller_port, node_port = free_ports(2)
        with open(self.configuration, "w") as file:
            file.write(configuration.format(host=host, address=address if local else "127.0.0.1", listen=listen, folder=self.folder, munge=self.munge,
                                            controller_port=controller_port, node_port=node_port))
        # slurmd asks for a plugin though nothing uses it; the one of version 1 asks nothing of the machine, and is gone where "disabled" exists
        old = re.search(r" (19|2[0-2])\.", self.ask("slurmd", "-V"))
        with open(self.folder + "/cgroup.conf", "w") as file:
            file.write(f"CgroupPlugin={'cgroup/v1' if old else 'disabled'}\n")

    def ask(self, *command):
        """stdout of a command of Slurm, empty when it fails."""
        ran = self.call(*command)
        return ran.stdout if ran.returncode == 0 else ""

    def call(self, *command, folder=None):
        try:
            return subprocess.run(command, env=self.environment, cwd=folder or self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                  timeout=30)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, "", "no answer in 30 s")

    def submit(self, folder, *arguments):
        """The number of a job that is submitted in a folder."""
        ran = self.call("sbatch", "--parsable", *arguments, folder=folder)
        if ran.returncode != 0:
            raise RuntimeError(f"sbatch {arguments}: {ran.stderr}")
        return ran.stdout.strip().split(";")[0]

    def job(self, name):
        """What scontrol says of a job or task: JobState, ExitCode, Restarts, ..."""
        return dict(re.findall(r"(\w+)=(\S*)", self.ask("scontrol", "-o", "show", "job", name)))

    def processes(self, task=None, program=None):
        """Processes of this cluster; of one task of an array or of one program where asked for. They carry the path of its configuration."""
        found, ours = [], f"SLURM_CONF={self.configuration}".encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    variables = file.read().split(b"\0")
                exe = os.readlink(f"/proc/{pid}/exe")
            except OSError:
                continue
            if ours not in variables or (program and exe != program):
                continue
            if task is None or f"SLURM_ARRAY_TASK_ID={task}".encode() in variables:
                found.append(int(pid))
        return found

    def end(self, *names):
        for name in names:
            if daemon := self.daemons.pop(name, None):
                daemon.terminate()
                try:
                    daemon.wait(10)
                except subprocess.TimeoutExpired:
                    daemon.kill()
                    daemon.wait()

    def stop(self):
        self.end("slurmctld", "slurmd", "munged")
        for _ in range(50):  # slurmstepd and jobs are no children of ours
            for pid in (left := self.processes()):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if not left:
                break
            time.sleep(0.1)
