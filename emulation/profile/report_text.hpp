#pragma once
namespace gpuopt::emulation::detail { inline std::string textReport(const Profile& p) {
 std::ostringstream out;
 for (const auto& k : p.kernels) {
   out << k.name << " launches " << k.launches << " blocks " << k.blocks << " barriers " << k.barriers << " read " << k.bytesRead << " written " << k.bytesWritten << " eff " << k.branches().efficiency() << "\n";
   for (const auto& l : k.lines) {
     out << "  " << l.source.file << ":" << l.source.line << " blocks " << l.branches.executions << " eff " << l.branches.efficiency() << "\n";
     for (const auto& a : l.accesses) out << "     kind " << int(a.kind) << " req " << a.counts.requests << " lanes " << a.counts.lanes << " bytes " << a.counts.bytes << " sec " << a.counts.sectors << "/" << a.counts.idealSectors << " wf " << a.counts.wavefronts << "/" << a.counts.idealWavefronts << " stride " << a.pattern.stride << " w " << a.pattern.bytes << "\n";
   }
 }
 return out.str();
} }
